"""XGBoost, and a template that is unpacked into the call."""

from kubeflow.trainer import CustomTrainer, TrainerClient, TrainJobTemplate

num_gpu = 0
resources_per_node = {"cpu": 3}
if num_gpu > 0:
    resources_per_node["gpu"] = num_gpu


def xgboost_train_classification(num_rounds: int = 50):
    """
    Variables such as DMLC_TRACKER_URI come from the runtime.
    """
    import os

    import xgboost as xgb
    from xgboost import collective as coll

    rank = int(os.environ["DMLC_TASK_ID"])
    with coll.CommunicatorContext(dmlc_tracker_uri=os.environ["DMLC_TRACKER_URI"], dmlc_task_id=str(rank)):
        print(f"Worker {coll.get_rank()}/{coll.get_world_size()}, {num_rounds} rounds with {xgb.__version__}")


client = TrainerClient()
template = TrainJobTemplate(
    runtime="xgboost-distributed",
    trainer=CustomTrainer(
        func=xgboost_train_classification,
        func_args={"num_rounds": 10},
        num_nodes=3,
        resources_per_node=resources_per_node,
    ),
)
job_name = client.train(**template)
client.wait_for_job_status(name=job_name, status={"Running"})
for c in client.get_job(name=job_name).steps:
    print(f"Step: {c.name}, Status: {c.status}, Devices: {c.device} x {c.device_count}\n")
print("\n".join(client.get_job_logs(name=job_name, follow=True, step="node-0")))
client.delete_job(job_name)
