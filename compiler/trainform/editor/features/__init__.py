"""Answers to what an editor asks: pure functions of a snapshot."""
