"""TorchTune with initializers; everything from a star import."""

from kubeflow.trainer import *
from kubeflow.trainer.constants import constants

client = TrainerClient()
job_name = client.train(
    runtime="torchtune-qwen2.5-1.5b",
    initializer=Initializer(
        dataset=HuggingFaceDatasetInitializer(storage_uri="hf://tatsu-lab/alpaca/data"),
        model=HuggingFaceModelInitializer(storage_uri="hf://Qwen/Qwen2.5-1.5B-Instruct"),
    ),
    trainer=BuiltinTrainer(
        config=TorchTuneConfig(
            dataset_preprocess_config=TorchTuneInstructDataset(source=DataFormat.PARQUET, split="train[:1000]"),
            resources_per_node={"memory": "128G", "gpu": 1},
        )
    ),
)

job = client.get_job(name=job_name)
print(job.name, job.runtime.name, job.num_nodes)
for line in client.get_job_logs(job_name, follow=True, step=constants.DATASET_INITIALIZER):
    print(line)
job = client.wait_for_job_status(name=job_name, timeout=1200)
if job.status != "Complete":
    raise RuntimeError("TrainJob failed")
client.delete_job(job_name)
