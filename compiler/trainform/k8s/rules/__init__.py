"""What the API server and webhooks reject beyond the schema."""
