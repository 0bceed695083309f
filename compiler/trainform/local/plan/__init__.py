"""From rendered objects to processes: what would be started, in which order, and what follows when one of them ends."""
