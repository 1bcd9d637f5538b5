"""Define the forms of the pages, and turn what a person submits into plain values of a project file."""
