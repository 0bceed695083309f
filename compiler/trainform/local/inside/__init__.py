"""Programs of their own, which import only the standard library: the parents of a job's processes."""
