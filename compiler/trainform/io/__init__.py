"""File access, git, worker processes and shipped resources."""
