"""What a framework gives to the pods of a job: variables, host names, ports."""
