"""`./dev fuzz`: mutated repositories through every command, and bytes into every parser.

A case is a repository with command lines (`case.py`). It is made from a seed (`seeds.py`) by mutations (`mutate.py`,
`trees.py`), set up in its own folder (`place.py`), run in forked processes (`process.py`) and checked against what
trainform promises for every input (`contract.py`, `trial.py`). A failing case is minimized (`minimize.py`) and written
to a file that `--replay` runs again. Parsers get bytes (`targets.py`, `bytewise.py`), guided by coverage if atheris is
installed.
"""
