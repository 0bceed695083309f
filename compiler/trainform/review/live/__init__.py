"""What git says against what runs in a cluster, as far as the objects of both are at hand."""
