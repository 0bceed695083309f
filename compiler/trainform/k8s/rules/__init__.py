"""What the API server and webhooks refuse beyond the schema."""
