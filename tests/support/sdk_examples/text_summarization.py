"""MPI: arguments by name, a client for every call."""

from kubeflow.trainer import CustomTrainer, TrainerClient

MODEL_NAME = "t5-base"


def deepspeed_train(NUM_SAMPLES, MODEL_NAME, BUCKET):
    import os

    import deepspeed
    import torch.distributed as dist

    deepspeed.init_distributed(dist_backend="nccl")
    config = {"train_micro_batch_size_per_gpu": 2, "optimizer": {"type": "AdamW", "params": {"lr": 0.002}}}
    text = "a\nb ``quoted``".replace("\n", " ").replace("``", "").strip()
    if dist.get_rank() == 0:
        path = os.path.join("/home/mpiuser", MODEL_NAME)
        print(f"{100.0:.0f}%\tof {NUM_SAMPLES} to s3://{BUCKET}{path}", config, text)


for r in TrainerClient().list_runtimes():
    if r.name == "deepspeed-distributed":
        print(f"{r.name}: {r.trainer.framework}, {r.trainer.trainer_type.value}, {r.trainer.device}")
        deepspeed_runtime = r

job_name = TrainerClient().train(
    trainer=CustomTrainer(
        func=deepspeed_train,
        func_args={"NUM_SAMPLES": "2000", "MODEL_NAME": MODEL_NAME, "BUCKET": "models"},
        packages_to_install=["boto3"],
        num_nodes=2,
    ),
    runtime=deepspeed_runtime,
)

for job in TrainerClient().list_jobs():
    print(f"TrainJob: {job.name}, Status: {job.status}, Created at: {job.creation_timestamp}")
print("\n".join(TrainerClient().get_job_logs(name=job_name)))
TrainerClient().delete_job(job_name)
