"""What a shell offers after the Tab key."""
