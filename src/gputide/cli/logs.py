"""The log of long-running commands: a line an event on standard error, as logfmt or as JSON."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Literal

LogFormat = Literal["text", "json"]


def configure_logs(log_format: LogFormat) -> None:
    """Send the log to standard error; call it before the first line."""
    with _without("rich"):
        import structlog
    shape: tuple[structlog.typing.Processor, ...] = (
        (structlog.processors.format_exc_info, structlog.processors.JSONRenderer())
        if log_format == "json"
        else (
            structlog.processors.format_exc_info,
            structlog.processors.LogfmtRenderer(key_order=("timestamp", "level", "event")),
        )
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *shape,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Keep a module from being imported meanwhile.

    structlog loads rich where it can, for coloured tracebacks: 4 MB that no service looks at.
    """
    modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment] # None is allowed: "cannot be imported"
    if name in modules:
        yield
        return
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]
