"""`trainform run`: the pods of a job as processes of this machine. `plan` decides what is started, without touching the
machine; the other modules start it."""
