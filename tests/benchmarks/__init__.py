"""How fast trainform is, beside peers that do equal work in the same run."""
