"""Distributed training that survives a restart: argv names the folder of its checkpoint, and may name a backend of
torch.distributed. In the first attempt, the last node dies after a few steps."""

import os
import signal
import sys
from pathlib import Path

import torch
import torch.distributed as dist

STEPS, DIES_AT = 40, 15
CHECKPOINT = Path(sys.argv[1]) / "checkpoint.pt"
BACKEND = sys.argv[2] if len(sys.argv) > 2 else "gloo"

device = torch.device("cpu")
if BACKEND == "nccl":
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group(BACKEND)
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
start = 0
if CHECKPOINT.exists():
    saved = torch.load(CHECKPOINT, map_location=device)
    model.load_state_dict(saved["model"])
    start = saved["step"]
torch.manual_seed(rank)
for step in range(start, STEPS):
    inputs = torch.randn(64, 4).to(device)
    loss = ((model(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0:
        print(f"world {world} step {step} loss {loss.item():.6f}", flush=True)
        torch.save({"model": model.state_dict(), "step": step + 1}, CHECKPOINT.with_suffix(".new"))
        CHECKPOINT.with_suffix(".new").replace(CHECKPOINT)
    dist.barrier()
    if start == 0 and step == DIES_AT and rank == world - 1:
        os.kill(os.getppid(), signal.SIGKILL)  # torchrun itself: the whole node
dist.destroy_process_group()
os._exit(0)  # now and then, threads of torch abort a process that ends as usual
