"""`trainform migrate`: old jobs from files, new ones into the repository."""
