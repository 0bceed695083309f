"""A repository with its lockfiles: everything between the command line and the compiler."""
