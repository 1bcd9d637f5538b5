"""The command line and the workbench: two ways to use the library, with no logic of their own."""
