"""Kubernetes' own rules for plain trees. Knows nothing of TrainJobs, runtimes or files."""
