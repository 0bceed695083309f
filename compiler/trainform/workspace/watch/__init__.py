"""When to render again: what is watched, and what is waited for."""
