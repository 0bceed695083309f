"""The effect of a change on jobs."""
