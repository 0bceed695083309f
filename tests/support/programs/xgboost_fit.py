"""Trains with XGBoost on all workers; the first also runs the tracker."""

import os
import socket

import numpy
import xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker

host, port = os.environ["DMLC_TRACKER_URI"], int(os.environ["DMLC_TRACKER_PORT"])
task, workers = os.environ["DMLC_TASK_ID"], int(os.environ["DMLC_NUM_WORKER"])
if task == "0":
    tracker = RabitTracker(host_ip=socket.gethostbyname(host), n_workers=workers, port=port)
    tracker.start()
with collective.CommunicatorContext(dmlc_tracker_uri=host, dmlc_tracker_port=port, dmlc_task_id=task, dmlc_retry=30):
    rows = numpy.random.default_rng(int(task)).normal(size=(200, 3))
    model = xgboost.train({"tree_method": "hist", "nthread": 1}, xgboost.DMatrix(rows, rows.sum(1)), 5)
    count = collective.get_world_size()
    print(f"worker {collective.get_rank()} of {count}: {model.num_boosted_rounds()} rounds", flush=True)
if task == "0":
    tracker.wait_for()  # the others still say goodbye to it
