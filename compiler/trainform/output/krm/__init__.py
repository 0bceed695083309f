"""The list that a KRM function reads and writes."""
