"""Jobs of the Training Operator and the MPI Operator, and TrainJobs of earlier versions, in the current API."""
