"""Shared by all models: strictness, and types of fields that Kubernetes owns."""

from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, PydanticKnownError, core_schema

from trainform.k8s.schema import validate as schema
from trainform.k8s.tree import Tree, without_nulls

Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]

KUBERNETES = "kubernetes"
"""Type of the error whose context carries a list of SchemaProblem."""


def _camel(name: str) -> str:
    """`num_nodes` as `numNodes`; unlike pydantic's `to_camel`, compiles no patterns."""
    head, *others = name.split("_")
    return head + "".join(map(str.capitalize, others))


class Model(BaseModel):
    """A part of a document: frozen, no unknown fields, no coercion (a number is not a string)."""

    model_config = ConfigDict(alias_generator=_camel, defer_build=True, extra="forbid", frozen=True, strict=True)


def absent(default: Any) -> BeforeValidator:
    """Makes null mean `default`: the API server drops nulls before it fills in defaults."""
    return BeforeValidator(lambda value: default if value is None else value)


class Kube(NamedTuple):
    """Annotates a plain tree of the named kind: checked against Kubernetes' schema; nulls are dropped."""

    kind: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def check(self, tree: Any) -> object:
        _raise_if(schema.check(self.kind, tree))
        return without_nulls(tree)


class KubeList(NamedTuple):
    """Annotates a list of such trees."""

    kind: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def check(self, entries: object) -> object:
        if not isinstance(entries, list):
            raise PydanticKnownError("list_type")
        _raise_if(schema.check_each(self.kind, entries))
        return without_nulls(entries)


def _raise_if(problems: list[schema.SchemaProblem]) -> None:
    if problems:
        raise PydanticCustomError(KUBERNETES, "does not fit Kubernetes' schema", {"problems": problems})


EnvVars = Annotated[list[Tree], KubeList("EnvVar")]


class EmbeddedMetadata(Model):
    """Metadata of an object inside another one, `metav1.ObjectMeta` as a CRD keeps it."""

    labels: dict[str, str] | None = None
    """Labels of the JobSet. Default: none. Example: `{team: vision}`."""
    annotations: dict[str, str] | None = None
    """Annotations of the JobSet. Default: none."""
    name: str | None = None
    """Not used: the JobSet is called as its job. Default: none."""
    namespace: str | None = None
    """Not used: the JobSet stands in the namespace of its job. Default: none."""
    finalizers: list[str] | None = None
    """Not used. Default: none."""


class Metadata(Model):
    """The head of a document: what an author writes of `metav1.ObjectMeta`."""

    name: str
    """Its name, unique in its namespace. Example: `llm`."""
    namespace: str | None = None
    """Its namespace; a ClusterTrainingRuntime has none. Default: that of the Environment, else `default`.
    Example: `ml`."""
    labels: dict[str, str] | None = None
    """Labels, by which Environments and queues select. Default: none.
    Example: `{kueue.x-k8s.io/queue-name: team-a}`."""
    annotations: dict[str, str] | None = None
    """Annotations. Default: none. Example: `{example.com/owner: vision}`."""


class Resource(Model):
    """What every document of ours starts with. `kinds` has checked the API version."""

    api_version: Any = None
    kind: str
    metadata: Metadata
    """Name, namespace, labels and annotations."""

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str | None:
        """As written: a job without one gets its Environment's, else `default`; a ClusterTrainingRuntime has none."""
        return self.metadata.namespace
