"""The jobs of a repository, held against the declared quotas of their clusters."""
