"""Files and shipped resources: the only room that touches the world."""
