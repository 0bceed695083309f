"""What the commands that read a live cluster share."""
