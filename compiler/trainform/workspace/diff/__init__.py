"""Gather the states of jobs before and after a change, for comparison."""
