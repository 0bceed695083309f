"""JSON Schemas of what people write and of what commands print, for editors and for programs that read results."""
