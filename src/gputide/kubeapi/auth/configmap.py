"""ConfigMap kube-system/extension-apiserver-authentication, parsed."""

import json
from collections.abc import Mapping

from gputide.errors import InputError
from gputide.kubeapi.auth.ports import FrontProxyTrust

NAMESPACE = "kube-system"
NAME = "extension-apiserver-authentication"
_PLACE = f"ConfigMap {NAMESPACE}/{NAME}"


def trust_from(values: Mapping[str, str]) -> FrontProxyTrust:
    """Return what the ConfigMap's `data` says; raise InputError naming the key that is wrong.

    Without `requestheader-client-ca-file` no front proxy is believed.
    """
    return FrontProxyTrust(
        authorities=values.get("requestheader-client-ca-file", ""),
        allowed_names=_names(values, "requestheader-allowed-names"),
        username_headers=_headers(values, "requestheader-username-headers"),
        uid_headers=_headers(values, "requestheader-uid-headers"),
        group_headers=_headers(values, "requestheader-group-headers"),
        extra_prefixes=_headers(values, "requestheader-extra-headers-prefix"),
        client_authorities=values.get("client-ca-file", ""),
    )


def _headers(values: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(one.lower() for one in _names(values, key))


def _names(values: Mapping[str, str], key: str) -> tuple[str, ...]:
    text = values.get(key, "")
    if not text.strip():
        return ()
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InputError(_PLACE, f"{key} is no JSON: {error}") from error
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InputError(_PLACE, f"{key} must be a list of strings")
    return tuple(found)
