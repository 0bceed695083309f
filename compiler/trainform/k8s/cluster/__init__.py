"""What a cluster refuses because of what it declares, or of its version: rules on pods as admission leaves them."""
