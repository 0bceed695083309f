"""The build cache, and which files a build must read because of it."""
