"""What a change does to jobs."""
