"""A new TrainJob: its text, and the script of a Python function."""
