"""Key pairs for MPI and Flux jobs: generated, and encrypted for the repository."""
