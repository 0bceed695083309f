"""What the declared facts of a cluster say of a finished job."""
