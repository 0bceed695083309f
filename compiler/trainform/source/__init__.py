"""The front end: YAML and JSON as Kubernetes reads them, with places for every diagnostic."""

from trainform.source.document import Document
from trainform.source.load import Loaded, load

__all__ = ["Document", "Loaded", "load"]
