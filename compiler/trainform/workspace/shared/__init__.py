"""Files in `rendered/` and `.trainform/` that no single job owns."""
