"""Objects of a live cluster as cluster facts: what the compiler reads of them, and nothing that changes by itself."""
