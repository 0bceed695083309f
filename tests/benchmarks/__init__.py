"""How fast trainform is, beside peers that do equal work in the same run: `./dev bench`.

generate.py      repositories of any number of jobs
launcher.py      one process, measured
measure.py       rounds: what is measured, in turns, and the best of it
fleet.py         the commands on repositories of mixed jobs
peers.py         kustomize, helm and jsonnet, which make the same objects
engines.py       what Argo CD and Flux pay to read the output
starts.py        single processes, and one job compiled in process
marks.py         what the figures should be
limits.py        what they must not exceed: the check of CI
report.py        tables, pictures, docs/performance.md
"""
