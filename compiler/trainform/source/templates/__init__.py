"""Jinja templates of YAML files."""
