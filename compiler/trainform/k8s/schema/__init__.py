"""Checks objects against the API server's schemas."""
