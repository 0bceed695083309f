"""Remove TrainJobs that are done: which ones, and the edits of their files."""
