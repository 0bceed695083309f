"""Strategic merge patches and JSON patches."""
