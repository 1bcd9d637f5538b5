"""Forms: what a page lets a person type, and what was typed as plain values of a project file."""
