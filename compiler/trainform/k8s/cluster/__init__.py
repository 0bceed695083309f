"""What a cluster other than a bare one refuses: its classes, limits, quotas, releases and standards."""
