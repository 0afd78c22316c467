"""What authentication and authorization need from outside: a cluster's own answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gputide.kubeapi.model import JsonObject


class Reviews(Protocol):
    """Asks an API server who somebody is and what he may do.

    Both methods return the answer with its `status`, and raise GputideError where there is none.
    """

    async def token_review(self, review: JsonObject) -> JsonObject:
        """POST a TokenReview of authentication.k8s.io/v1."""

    async def subject_access_review(self, review: JsonObject) -> JsonObject:
        """POST a SubjectAccessReview of authorization.k8s.io/v1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontProxyTrust:
    """Whose word about users is believed: ConfigMap extension-apiserver-authentication, parsed."""

    authorities: str = ""
    """PEM bundle of the front proxy's authority; "" believes nobody."""

    allowed_names: tuple[str, ...] = ()
    """Common names that its certificate may have; any where there are none."""

    username_headers: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()
    client_authorities: str = ""
    """PEM bundle of the authority of ordinary client certificates."""


Trust = Callable[[], FrontProxyTrust]
"""Returns what is trusted at the moment: authorities rotate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBounds:
    """How long an answer of the cluster counts, and how many are kept."""

    seconds: float = 10
    max_answers: int = 4096
    deadline_seconds: float = 10
    """For one question; then it has failed."""


DEFAULT_BOUNDS = CacheBounds()
