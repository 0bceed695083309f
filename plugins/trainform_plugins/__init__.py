"""The plugins that ship with trainform."""
