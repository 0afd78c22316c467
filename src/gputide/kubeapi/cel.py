"""CEL by the package `common-expression-language`, where it is installed; imported late."""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module, util
from typing import Any

from gputide.kubeapi.structural import Cel

MODULE = "cel"


def installed() -> Cel | None:
    """Return an evaluator of rules, or None where the package is not installed."""
    return evaluated if util.find_spec(MODULE) else None


def evaluated(rule: str, this: Any, before: Any) -> bool | None:  # noqa: ANN401 any JSON values
    """Return whether the rule holds for `self` and `oldSelf`; None where it cannot be evaluated.

    That is so for functions of Kubernetes that the package does not know, such as quantity(). A
    rule that reads a field which is absent does not hold, as in Kubernetes.
    """
    values: Mapping[str, Any] = {"self": this} | ({} if before is None else {"oldSelf": before})
    try:
        result = _compiled(rule).execute(dict(values))
    except KeyError:
        return False
    except (RuntimeError, TypeError, ValueError):
        return None
    return result if isinstance(result, bool) else None


@lru_cache(maxsize=1024)
def _compiled(rule: str) -> Any:  # noqa: ANN401 the package has no types
    return import_module(MODULE).compile(rule)
