"""core/v1 Service, with cluster addresses out of a range."""

import ipaddress
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from gputide.kubeapi.kinds import podspec
from gputide.kubeapi.kinds.cells import AGE, NAME, NONE, at, joined, pairs, text, wide
from gputide.kubeapi.kinds.schemas import OPEN, described
from gputide.kubeapi.model import JsonObject, Kind, Problem

DEFAULT_RANGE = "10.96.0.0/16"
MAX_PROMISED = 1024


class Addresses:
    """Hands out cluster addresses: by the service's name, so that a repeated ask gets the same.

    `hold` tells which are taken, as services come and go; a promise that no service followed up
    (a dry run) is forgotten once MAX_PROMISED newer ones were made. May be called in any thread.
    """

    def __init__(self, network: str = DEFAULT_RANGE) -> None:
        hosts = ipaddress.ip_network(network)
        self._first = int(hosts.network_address) + 1
        self._count = hosts.num_addresses - 2
        self._held: dict[str, str] = {}
        self._promised: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def hold(self, service: JsonObject) -> None:
        """Count the addresses of a service that is stored as taken."""
        with self._lock:
            for address in _stated(service):
                self._held[address] = _name(service)
                self._promised.pop(address, None)

    def release(self, service: JsonObject) -> None:
        """Count the addresses of a service that is gone as free."""
        with self._lock:
            for address in _stated(service):
                if self._held.get(address) == _name(service):
                    del self._held[address]

    def promise(self, service: JsonObject) -> str | None:
        """Return a free address for that service, or None where all are taken."""
        name = _name(service)
        start = zlib.crc32(name.encode())
        with self._lock:
            for probe in range(self._count):
                number = self._first + (start + probe) % self._count
                address = str(ipaddress.ip_address(number))
                if self._taken_by(address) in (None, name):
                    self._promised[address] = name
                    if len(self._promised) > MAX_PROMISED:
                        self._promised.popitem(last=False)
                    return address
        return None

    def is_free_for(self, address: str, service: JsonObject) -> bool:
        """Whether no other service has the address."""
        with self._lock:
            return self._held.get(address) in (None, _name(service))

    def _taken_by(self, address: str) -> str | None:
        return self._held.get(address) or self._promised.get(address)


def service_kind(addresses: Addresses) -> Kind:
    """Return the kind Service, whose cluster addresses come from there."""

    def default(obj: JsonObject) -> JsonObject:
        return _defaulted(obj, addresses)

    def checked(obj: JsonObject, old: JsonObject | None) -> Sequence[Problem]:
        return [*_ports_wrong(obj), *_address_wrong(obj, old, addresses)]

    return Kind(
        group="",
        version="v1",
        kind="Service",
        plural="services",
        singular="service",
        short_names=("svc",),
        categories=("all",),
        schema=described("Service of core/v1.", "spec", spec=OPEN, status=OPEN),
        has_status=True,
        default=default,
        validate=checked,
        merge_keys={"spec.ports": "port,protocol=TCP", "status.conditions": "type"},
        atomic_maps=frozenset({"spec.selector"}),
        columns=(
            NAME,
            text("Type", ".spec.type"),
            text("Cluster-IP", ".spec.clusterIP", NONE),
            text("External-IP", _external),
            text("Port(s)", _ports),
            AGE,
            wide("Selector", lambda obj: pairs((obj.get("spec") or {}).get("selector"))),
        ),
    )


_INTERNAL: JsonObject = {"internalTrafficPolicy": "Cluster", "ipFamilyPolicy": "SingleStack"}


def _defaulted(obj: JsonObject, addresses: Addresses) -> JsonObject:
    given = obj.get("spec")
    if not isinstance(given, dict):
        return obj
    spec: JsonObject = {"type": "ClusterIP", "sessionAffinity": "None"} | given
    if isinstance(spec.get("ports"), list):
        spec["ports"] = [_port(one) if isinstance(one, dict) else one for one in spec["ports"]]
    if spec["type"] == "ExternalName":
        return obj | {"spec": spec}
    spec = _INTERNAL | spec
    if not spec.get("clusterIP"):
        spec["clusterIP"] = addresses.promise(obj) or ""
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    spec.setdefault("ipFamilies", ["IPv4"])
    if spec["type"] in ("LoadBalancer", "NodePort"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", False)
    return obj | {"spec": spec, "status": {"loadBalancer": {}} | (obj.get("status") or {})}


def _port(port: JsonObject) -> JsonObject:
    full = {"protocol": "TCP"} | port
    return (
        full if "targetPort" in full or "port" not in full else full | {"targetPort": full["port"]}
    )


def _ports_wrong(obj: JsonObject) -> list[Problem]:
    spec = obj.get("spec") or {}
    ports = spec.get("ports") or []
    if not ports and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        return [podspec.required("spec.ports")]
    found = []
    for index, one in enumerate(ports):
        number = one.get("port") if isinstance(one, dict) else None
        if not isinstance(number, int) or not 1 <= number <= 65535:
            message = f"Invalid value: {number}: must be between 1 and 65535, inclusive"
            found.append(Problem(field=f"spec.ports[{index}].port", message=message))
    if len(ports) > 1:
        nameless = (
            i for i, one in enumerate(ports) if isinstance(one, dict) and not one.get("name")
        )
        found += [podspec.required(f"spec.ports[{index}].name") for index in nameless]
    return found


def _address_wrong(obj: JsonObject, old: JsonObject | None, addresses: Addresses) -> list[Problem]:
    spec, before = obj.get("spec") or {}, (old or {}).get("spec") or {}
    address = spec.get("clusterIP") or ""
    if spec.get("type") == "ExternalName":
        return [] if spec.get("externalName") else [podspec.required("spec.externalName")]
    if not address:
        message = "Internal error: no cluster address is free"
        return [Problem(field="spec.clusterIPs", message=message)]
    if before.get("clusterIP") and before["clusterIP"] != address:
        message = f'Invalid value: ["{address}"]: may not change once set'
        return [Problem(field="spec.clusterIPs[0]", message=message)]
    if address != "None" and not addresses.is_free_for(address, obj):
        message = f'Invalid value: ["{address}"]: provided IP is already allocated'
        return [Problem(field="spec.clusterIPs", message=message)]
    return []


def _external(service: JsonObject) -> str:
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", NONE))
    ingress = at(".status.loadBalancer.ingress", [])(service)
    found = [one.get("ip") or one.get("hostname") for one in ingress]
    found += spec.get("externalIPs") or []
    if spec.get("type") == "LoadBalancer" and not found:
        return "<pending>"
    return joined(found)


def _ports(service: JsonObject) -> str:
    ports = (service.get("spec") or {}).get("ports") or []
    return joined(
        f"{one.get('port')}{':' + str(one['nodePort']) if one.get('nodePort') else ''}"
        f"/{one.get('protocol', 'TCP')}"
        for one in ports
    )


def _stated(service: JsonObject) -> Iterable[str]:
    spec = service.get("spec") or {}
    return [one for one in spec.get("clusterIPs") or [] if one not in ("", "None")]


def _name(service: JsonObject) -> str:
    metadata = service.get("metadata") or {}
    return f"{metadata.get('namespace')}/{metadata.get('name')}"
