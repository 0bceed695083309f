"""The command line: each command turns argv into one call, prints its result and returns an exit code."""

OK, DIFFERS, FAULTY, BUG, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit codes. DIFFERS: the command found what it looks for. FAULTY: an error in the input or the command line."""
