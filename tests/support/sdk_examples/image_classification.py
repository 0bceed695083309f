"""A function for two nodes; the client and what it is given from one import, the runtime from the list."""

from kubeflow.trainer import CustomTrainer, TrainerClient


def train_fn():
    import os

    import torch
    import torch.distributed as dist
    import torch.nn as nn
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(28 * 28, 10)

        def forward(self, images):
            return self.layer(images.view(-1, 28 * 28))

    dist.init_process_group(backend="nccl" if torch.cuda.is_available() else "gloo")
    rank = int(os.environ.get("RANK", 0))
    model = nn.parallel.DistributedDataParallel(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    data = TensorDataset(torch.rand(64, 28, 28), torch.randint(10, (64,)))
    for batch, (images, labels) in enumerate(DataLoader(data, batch_size=8, sampler=DistributedSampler(data))):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"{batch}\tloss: {loss.item():.4f}")
    dist.destroy_process_group()


client = TrainerClient()
runtime = next(r for r in client.list_runtimes() if r.name == "torch-distributed")
job_name = client.train(
    trainer=CustomTrainer(
        func=train_fn,
        num_nodes=2,
        resources_per_node={"cpu": 2, "memory": "4Gi"},
        packages_to_install=["torchvision"],
    ),
    runtime=runtime,
)
print(f"TrainJob: {job_name}")

client.wait_for_job_status(name=job_name, status={"Running"})
for step in client.get_job(name=job_name).steps:
    print(f"Step: {step.name}, Status: {step.status}, Devices: {step.device} x {step.device_count}")
for line in client.get_job_logs(job_name, follow=True):
    print(line)
client.delete_job(job_name)
