"""Advice for a runtime."""

from __future__ import annotations

from trainform.api.advice import MIGRATE, Advice, spread

TEMPLATE = "spec.template.spec"
POD = f"{TEMPLATE}.replicatedJobs[].template.spec.template.spec"
ELASTIC = Advice(
    "elastic training was removed in Trainer 2.2: set a fixed node count and let the JobSet restart",
    "mlPolicy: {numNodes: 4, torch: {}} with template.spec.failurePolicy: {maxRestarts: 3}",
    older=True,
)
"""Advice for runtimes and jobs alike."""

_PROCESSES = Advice(
    f"{MIGRATE}, and write spec.trainer.numProcPerNode of the TrainJob", "trainer: {numProcPerNode: 4}", older=True
)
_POD_FIELDS = (
    "{affinity,containers,imagePullSecrets,initContainers,nodeSelector,priorityClassName,restartPolicy,runtimeClassName,"
    "schedulerName,securityContext,serviceAccountName,terminationGracePeriodSeconds,tolerations,"
    "topologySpreadConstraints,volumes}"
)

RUNTIME = spread(
    {
        "spec.mlPolicy.{torch.,}numProcPerNode": _PROCESSES,
        "spec.mlPolicy.torch.elasticPolicy": ELASTIC,
        "spec.numNodes": Advice("write spec.mlPolicy.numNodes", "mlPolicy: {numNodes: 2}", older=True),
        "spec.podGroupPolicySource": Advice("write spec.podGroupPolicy", "podGroupPolicy: {coscheduling: {}}"),
        "spec.mlPolicySource": Advice("write spec.mlPolicy", "mlPolicy: {torch: {}}"),
        "spec.mlPolicy.{flux,jax,mpi,torch,xgboost}.numNodes": Advice(
            "write spec.mlPolicy.numNodes", "mlPolicy: {numNodes: 2}"
        ),
        "spec.mlPolicy.mpi.slotsPerWorker": Advice(
            "write spec.mlPolicy.mpi.numProcPerNode", "mlPolicy: {mpi: {numProcPerNode: 8}}"
        ),
        "spec.podGroupPolicy.{kai,kueue,yunikorn}": Advice(
            "set scheduling.gang.scheduler of the Environment, or the scheduler's name in the pods",
            "schedulerName: kai-scheduler",
        ),
        "spec.runPolicy": Advice(
            f"write {TEMPLATE}.failurePolicy and ttlSecondsAfterFinished; a job sets its own activeDeadlineSeconds",
            "failurePolicy: {maxRestarts: 3}",
        ),
        "spec.{jax,mpi,paddle,pytorch,tf,xgb}ReplicaSpecs": Advice(f"write {TEMPLATE}.replicatedJobs"),
        "spec.{flux,jax,mpi,torch,xgboost}": Advice("write spec.mlPolicy.<field>"),
        "spec.{failurePolicy,network,replicatedJobs,startupPolicy,successPolicy}": Advice(f"write {TEMPLATE}.<field>"),
        f"{TEMPLATE}.{_POD_FIELDS}": Advice(f"this is a pod field: write {POD}.<field>"),
        "spec.template.replicatedJobs": Advice(f"write {TEMPLATE}.replicatedJobs"),
    }
)
