"""Commands that go on until Ctrl-C: what they print, and when."""
