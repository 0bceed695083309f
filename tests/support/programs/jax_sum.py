"""Adds up numbers of all processes with jax.distributed on CPUs."""

import os

import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils

jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(
    coordinator_address=os.environ["JAX_COORDINATOR_ADDRESS"],
    num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
    process_id=int(os.environ["JAX_PROCESS_ID"]),
)
total = multihost_utils.process_allgather(jnp.array([jax.process_index() + 1])).sum()
print(f"process {jax.process_index()} of {jax.process_count()}: {total}", flush=True)
