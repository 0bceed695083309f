"""Reads YAML and JSON as Kubernetes does, with positions for diagnostics."""

from trainform.source.document import Document
from trainform.source.load import Loaded, load

__all__ = ["Document", "Loaded", "load"]
