"""Reviews of compiled jobs, for people and CI, before a merge."""
