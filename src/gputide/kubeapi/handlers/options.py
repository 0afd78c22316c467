"""What the query of a write says: dry run, manager, validation, force."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.model import Problem

MAX_MANAGER_CHARACTERS = 128
_VALIDATIONS = ("Ignore", "Warn", "Strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a write is asked for."""

    now: datetime
    manager: str
    """Who is noted as the writer of the fields."""

    is_manager_stated: bool = False
    validation: str = "Warn"
    """What happens to unknown and duplicate fields: `Ignore`, `Warn` or `Strict`."""

    is_dry_run: bool = False
    is_forced: bool = False


def write_options(
    query: Mapping[str, str], *, user_agent: str, now: datetime, dry_run: tuple[str, ...] = ()
) -> WriteOptions:
    """Return the options of a query; raise StatusError for a value that is none."""
    manager = query.get("fieldManager", "")
    if len(manager) > MAX_MANAGER_CHARACTERS or not manager.isprintable():
        raise _invalid("fieldManager", manager, "at most 128 printable characters")
    validation = query.get("fieldValidation", "") or "Warn"
    if validation not in _VALIDATIONS:
        raise _invalid("fieldValidation", validation, f"one of {', '.join(_VALIDATIONS)}")
    return WriteOptions(
        now=now,
        manager=manager or user_agent.partition("/")[0][:MAX_MANAGER_CHARACTERS] or "unknown",
        is_manager_stated=bool(manager),
        validation=validation,
        is_dry_run=is_dry_run(*dry_run, query.get("dryRun", "")),
        is_forced=query.get("force", "") in ("true", "1"),
    )


def is_dry_run(*values: str) -> bool:
    """Return whether `All` is asked for; raise 422 for a value that is unknown."""
    given = {one for one in values if one}
    if given - {"All"}:
        raise _invalid("dryRun", ",".join(sorted(given)), 'supported values: "All"')
    return bool(given)


def _invalid(field: str, value: str, why: str) -> StatusError:
    problem = Problem(field=field, message=f'Invalid value: "{value[:100]}": {why}')
    text = f"{field}: {problem.message}"
    return StatusError(422, "Invalid", f"invalid options: {text}", problems=[problem])


def strict_error(kind: str, version: str, found: list[str]) -> StatusError:
    """Return the 400 that a strict write gets for fields that are unknown or there twice."""
    listed = ", ".join(found)
    return bad_request(
        f'{kind} in version "{version}" cannot be handled as a {kind}: '
        f"strict decoding error: {listed}"
    )
