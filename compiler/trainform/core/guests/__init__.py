"""Third-party plugins are guests: they are held to the rules of the plugin API, and a fault is told as theirs."""
