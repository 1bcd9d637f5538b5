"""Reading: from a file about people to a table, a guess of what it holds, and a new project file."""
