"""Make and measure the candidates of a project, and read the stored results."""
