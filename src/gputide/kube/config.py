"""From a kubeconfig or a service account to a connection; lightkube reads both."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import yaml
from lightkube.config.client_adapter import ConnectionParams, ExecAuth
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.config.models import User
from lightkube.core.exceptions import ConfigError

from gputide.errors import InputError
from gputide.kube.plugin import PluginAuth
from gputide.kube.settings import KubeSettings

_UNUSABLE = (
    *(OSError, yaml.YAMLError, msgspec.MsgspecError, httpx2.InvalidURL),
    # what lightkube meets in a file that is YAML and yet no kubeconfig
    *(AttributeError, AssertionError, KeyError, TypeError, ValueError),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """An HTTP client of an API server, and what the kubeconfig says of us."""

    client: httpx2.AsyncClient
    server: str
    namespace: str
    """Of the context; `default` where it names none."""


def connect(settings: KubeSettings, environment: Mapping[str, str] = os.environ) -> Connected:
    """Return a client; raise InputError where no configuration can be used."""
    path = settings.kubeconfig or _named(environment)
    place = path or "kubeconfig"
    try:
        config = KubeConfig.from_file(path) if path else KubeConfig.from_env()
        chosen = config.get(context_name=settings.context or None)
        if chosen is None:
            raise InputError(place, "names no current context")
        timeout = httpx2.Timeout(settings.timeout_seconds)
        limits = httpx2.Limits(
            max_connections=settings.max_concurrency * 2,
            max_keepalive_connections=settings.max_concurrency * 2,
        )
        parameters = ConnectionParams(timeout=timeout, trust_env=False)
        client = httpx2.AsyncClient(**_parameters(parameters, chosen), limits=limits)
    except ConfigError as error:
        raise InputError(place, str(error)) from error
    except _UNUSABLE as error:
        words = str(error) or type(error).__name__
        raise InputError(place, f"cannot be used: {words}") from error
    return Connected(
        client=client, server=chosen.cluster.server, namespace=chosen.namespace or "default"
    )


def _parameters(parameters: ConnectionParams, chosen: SingleConfig) -> dict[str, Any]:
    """Return what the HTTP client is made of; a context without a user asks as nobody."""
    user = chosen.user or User()
    made = parameters.httpx_params(chosen._replace(user=user))
    if isinstance(made["auth"], ExecAuth) and user.exec is not None:
        made["auth"] = PluginAuth(user.exec)  # lightkube's knows no v1, and trusts what it prints
    return made


def _named(environment: Mapping[str, str]) -> str:
    """Return the file that $KUBECONFIG names, of several the first that exists; "" for none."""
    paths = [path for path in environment.get("KUBECONFIG", "").split(os.pathsep) if path]
    return next((path for path in paths if Path(path).is_file()), paths[0] if paths else "")
