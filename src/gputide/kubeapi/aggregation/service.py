"""What an APIService asks for, and where its Service lies."""

import base64
import binascii
import ssl
from dataclasses import dataclass

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """One group version that a server behind this one answers."""

    group: str
    version: str
    namespace: str
    service: str
    port: int
    authority_pem: str = ""
    """CA of its certificate; "" for those of the system."""

    is_verified: bool = True

    @property
    def name(self) -> str:
        """The name of the APIService."""
        return f"{self.version}.{self.group}"

    @property
    def server_name(self) -> str:
        """The name that its certificate must have."""
        return f"{self.service}.{self.namespace}.svc"

    @property
    def path(self) -> str:
        """The path of its discovery."""
        return f"/apis/{self.group}/{self.version}"


def behind(api_service: JsonObject) -> Behind | None:
    """Return what an APIService asks for, or None where this server itself answers (no service).

    Raise StatusError (422) for a caBundle that is no certificate.
    """
    spec = api_service["spec"]
    service = spec.get("service")
    if not service:
        return None
    is_verified = not spec.get("insecureSkipTLSVerify")
    return Behind(
        group=spec["group"],
        version=spec["version"],
        namespace=service["namespace"],
        service=service["name"],
        port=int(service.get("port") or 443),
        authority_pem=_authority(spec.get("caBundle") or "") if is_verified else "",
        is_verified=is_verified,
    )


def address(service: JsonObject, port: int) -> tuple[str, int] | None:
    """Return host and port of a Service, or None where it has no address to connect to."""
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return (str(spec["externalName"]), port)
    cluster_ip = spec.get("clusterIP")
    if cluster_ip in (None, "", "None"):
        return None
    return (str(cluster_ip), port)


def _authority(bundle: str) -> str:
    if not bundle:
        return ""
    try:
        text = base64.b64decode(bundle, validate=True).decode()
        ssl.create_default_context(cadata=text)
    except (binascii.Error, UnicodeDecodeError, ssl.SSLError, ValueError) as error:
        message = f"spec.caBundle: Invalid value: unable to load root certificates: {error}"
        raise StatusError(422, "Invalid", message) from error
    return text
