"""What people and CI ask of compiled jobs before they merge them."""
