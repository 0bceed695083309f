"""`python -m trainform`."""

from trainform.cli import main

main()
