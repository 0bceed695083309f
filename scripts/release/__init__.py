"""`./dev release`: builds what is published of a version, and checks it as those who will install it would."""
