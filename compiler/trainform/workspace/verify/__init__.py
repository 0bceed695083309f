"""Verify that rendered files match their inputs."""
