"""Documents of the Trainer API as typed models, with every rule of the API that no plugin owns."""

from trainform.api.environment import DEFAULT_ENVIRONMENT, Environment
from trainform.api.reader import Read, read
from trainform.api.runtime import Runtime
from trainform.api.runtime_rules import deprecation
from trainform.api.trainjob import TrainJob

__all__ = ["DEFAULT_ENVIRONMENT", "Environment", "Read", "Runtime", "TrainJob", "deprecation", "read"]
