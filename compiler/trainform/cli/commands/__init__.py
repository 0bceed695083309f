"""One module per command. Only click is imported before a command runs."""
