"""Whether what is rendered follows from its inputs."""
