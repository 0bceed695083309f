"""Gathers the jobs of a repository for what people read before a merge: capacity, report, explain."""
