"""Streams on standard input, for `render -` and `validate -`."""
