"""Patches: of runtimes before the stages, of objects after them."""
