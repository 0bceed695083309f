"""`./dev faults`: breaks runs of trainform in every way that a machine can, and looks at what they leave."""
