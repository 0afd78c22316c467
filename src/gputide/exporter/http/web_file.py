"""The web configuration file as it is now: read again when it or a certificate changes."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import structlog

from gputide.errors import InputError
from gputide.exporter.http.tls import ReloadingContext, new_context
from gputide.exporter.http.web_config import WebConfig, parse_web_config, resolve

log = structlog.stdlib.get_logger()
_MAX_BYTES = 1024 * 1024
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Loaded:
    config: WebConfig
    context: ssl.SSLContext | None
    stamps: tuple[_Stamp, ...]


class WebFile:
    """A web configuration file; one that goes bad later leaves what was there before in force."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._loaded = self._load()
        self._problem = ""
        self.reload_errors = 0
        """How often a changed file could not be used."""

    @property
    def config(self) -> WebConfig:
        """What it says now."""
        self._refresh()
        return self._loaded.config

    def tls(self) -> ssl.SSLContext | None:
        """Return a context that follows the file; None where there is no TLS, now and later."""
        return None if self._loaded.context is None else ReloadingContext(self._context)

    def _context(self) -> ssl.SSLContext:
        self._refresh()
        context = self._loaded.context
        if context is None:  # cannot be: `_refresh` keeps what there was
            raise InputError(str(self._path), "has lost its tls_server_config")
        return context

    def _refresh(self) -> None:
        stamps = self._stamps(self._loaded.config)
        if stamps == self._loaded.stamps:
            return
        try:
            loaded = self._load()
        except InputError as error:
            self._note(str(error))
            return
        if (loaded.context is None) != (self._loaded.context is None):
            self._note("TLS cannot be switched on or off without a restart")
            return
        self._loaded, self._problem = loaded, ""
        log.info("web configuration read again", file=str(self._path))

    def _note(self, problem: str) -> None:
        if problem != self._problem:  # it is tried at every request until it can be used
            self.reload_errors += 1
            log.warning("web configuration not changed", problem=problem)
        self._problem = problem

    def _load(self) -> _Loaded:
        own_stamp = _stamp(self._path)  # before reading: a change in between is seen the next time
        try:
            content = self._path.read_bytes()[:_MAX_BYTES]
            config = parse_web_config(content.decode(), source=str(self._path))
        except OSError as error:
            raise InputError(str(self._path), f"cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InputError(str(self._path), "is not UTF-8") from error
        stamps = (own_stamp, *self._stamps(config)[1:])
        tls = config.tls_server_config
        context = None if tls is None else new_context(tls, self._path)
        return _Loaded(config, context, stamps)

    def _stamps(self, config: WebConfig) -> tuple[_Stamp, ...]:
        tls = config.tls_server_config
        named = () if tls is None else tls.files
        return tuple(map(_stamp, (self._path, *(resolve(each, self._path) for each in named))))


def _stamp(path: Path) -> _Stamp:
    """Return by what a change is seen; it follows links, as Kubernetes swaps them in a Secret."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
