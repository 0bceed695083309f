"""What earlier runs found out, and what a build has to read because of it."""
