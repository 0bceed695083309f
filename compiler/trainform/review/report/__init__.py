"""The report: one HTML page about all jobs."""
