"""A small client of the Kubernetes API, for the commands that read a live cluster. It only reads: the one request that
writes elsewhere, `apply`, is a dry run. Nothing in a repository says which cluster, or how to log in."""

from __future__ import annotations


class ClusterError(Exception):
    """What the cluster, or the way to it, refused. The message is one sentence in plain words; it holds no token."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status; 0 where no answer came."""


class Unreachable(ClusterError):
    """No usable answer, after several attempts."""


class OutOfTime(Unreachable):
    """The time that the command has for the cluster is over."""


class NotLoggedIn(ClusterError):
    """401: the credentials are missing, wrong or expired."""


class NotAllowed(ClusterError):
    """403 by RBAC: a rule is missing. An admission webhook that says no is a `Rejected`."""


class NotFound(ClusterError):
    """404: no such object, or no such kind in this cluster."""


class Expired(ClusterError):
    """410: a page of a list, or the point where a watch begins, is too old to be continued."""


class Rejected(ClusterError):
    """Any other refusal, in the API server's or the webhook's own words."""


MAY_PASS = (Unreachable, NotFound, Rejected)
"""What may pass once the API server has answered: while it or a gateway before it is restarted, 404, a redirect or a
page may be the answer, too. Missing rights and credentials do not pass."""
