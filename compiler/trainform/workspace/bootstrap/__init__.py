"""A new repository: what `trainform init` writes, and what connects it to Argo CD or Flux."""
