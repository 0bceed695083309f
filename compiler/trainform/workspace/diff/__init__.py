"""What a change of the repository does to its jobs: both states, gathered for the comparison."""
