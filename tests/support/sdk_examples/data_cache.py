"""Data from a cache; the other names in an import of their own."""

from kubeflow.trainer import CustomTrainer, DataCacheInitializer, Initializer, TrainerClient


def train_func():
    import os

    endpoint = f"grpc://{os.getenv('TRAIN_JOB_NAME')}-cache-service:50051"
    print(endpoint)


client = TrainerClient()
torch_cache_runtime = None
for runtime in client.list_runtimes():
    if runtime.name == "torch-distributed-with-cache":
        torch_cache_runtime = runtime
        break
if torch_cache_runtime is None:
    raise ValueError("torch-distributed-with-cache runtime not found.")

job_name = client.train(
    trainer=CustomTrainer(
        func=train_func,
        num_nodes=8,
        resources_per_node={"cpu": 3, "memory": "8Gi", "nvidia.com/gpu": 1},
        packages_to_install=["pyarrow==19.0.0", "transformers==4.45.2"],
    ),
    initializer=Initializer(
        dataset=DataCacheInitializer(
            num_data_nodes=4,
            metadata_loc="s3://bucket/metadata.json",
            storage_uri="cache://schema/table",
            iam_role="arn:aws:iam::123456789012:role/read",
        )
    ),
    runtime=torch_cache_runtime,
)
print(f"TrainJob created: {job_name}")
client.wait_for_job_status(job_name, status={"Running"})
for event in client.get_job_events(job_name):
    print(event.reason)
client.delete_job(job_name)
