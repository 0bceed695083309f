"""Who set each field of a rendered job."""
