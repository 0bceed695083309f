"""What stands beside a TrainJob: which objects are its own, and how they are rendered with it."""
