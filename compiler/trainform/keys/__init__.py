"""Key pairs for MPI and Flux jobs: made, and encrypted for the repository."""
