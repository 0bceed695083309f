"""`python -m trainform`."""

from trainform.cli.main import main

main()
