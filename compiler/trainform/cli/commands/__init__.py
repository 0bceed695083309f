"""One command a file. Nothing but click is imported before a command runs."""
