"""The two ways to use the library without writing Python: the command line and the workbench."""
