"""What runs in a live cluster: its facts, its jobs, and what it would say to what is rendered."""
