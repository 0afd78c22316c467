import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.kind_rows import messages, row
from gputide.kubeapi.kinds.services import MAX_PROMISED, Addresses, service_kind

SERVICE = service_kind(Addresses())


def service(name: str = "web", **spec: object) -> dict:
    return {
        "metadata": {"name": name, "namespace": "n"},
        "spec": {"ports": [{"port": 80}], "selector": {"app": "web"}, **spec},
    }


def filled(obj: dict) -> dict:
    assert SERVICE.default is not None
    return SERVICE.default(obj)


def test_a_service_gets_an_address_of_the_range_and_what_else_is_missing() -> None:
    spec = filled(service())["spec"]

    assert spec["clusterIP"].startswith("10.96.")
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert spec["type"] == "ClusterIP"
    assert spec["ports"] == [{"protocol": "TCP", "port": 80, "targetPort": 80}]
    assert filled(service()) == filled(service())


def test_columns_are_those_of_kubectl() -> None:
    plain = filled(service(clusterIP="10.96.0.9"))
    balanced = filled(service(type="LoadBalancer", ports=[{"port": 80, "nodePort": 30080}]))
    named = filled(service(type="ExternalName", externalName="db.example"))
    given_one = balanced | {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}

    assert row(SERVICE, plain, is_wide=True) == {
        "Name": "web",
        "Type": "ClusterIP",
        "Cluster-IP": "10.96.0.9",
        "External-IP": "<none>",
        "Port(s)": "80/TCP",
        "Age": None,
        "Selector": "app=web",
    }
    assert row(SERVICE, balanced)["External-IP"] == "<pending>"
    assert row(SERVICE, balanced)["Port(s)"] == "80:30080/TCP"
    assert row(SERVICE, given_one)["External-IP"] == "192.0.2.1"
    assert row(SERVICE, named)["External-IP"] == "db.example"
    assert row(SERVICE, named)["Cluster-IP"] == "<none>"


@given(names=st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=6))
def test_no_two_services_get_one_address_and_a_name_gets_the_same_again(names: list) -> None:
    addresses = Addresses("10.0.0.0/29")
    given_ones = [addresses.promise(service(name)) for name in names]

    assert len(set(given_ones)) == len(names)
    assert [addresses.promise(service(name)) for name in names] == given_ones


def test_a_full_range_says_so_until_a_service_goes() -> None:
    addresses = Addresses("10.0.0.0/30")
    kind = service_kind(addresses)
    assert kind.default is not None
    first, second = kind.default(service("a")), kind.default(service("b"))
    for one in (first, second):
        addresses.hold(one)
    assert messages(kind, service("c"))[0][0] == "spec.clusterIPs"

    addresses.release(first)
    assert messages(kind, service("c")) == []


def test_promises_that_nobody_kept_are_forgotten() -> None:
    addresses = Addresses("10.0.0.0/16")
    first = addresses.promise(service("first"))
    for n in range(MAX_PROMISED + 1):
        addresses.promise(service(f"s{n}"))

    assert first is not None
    assert len(addresses._promised) == MAX_PROMISED


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"ports": []}, "spec.ports"),
        ({"ports": [{"port": 0}]}, "spec.ports[0].port"),
        ({"ports": [{"port": 1, "name": "a"}, {"port": 2}]}, "spec.ports[1].name"),
        ({"type": "ExternalName"}, "spec.externalName"),
    ],
)
def test_what_is_wrong_is_named(spec: dict, field: str) -> None:
    assert [one[0] for one in messages(SERVICE, service(**spec))] == [field]


def test_an_address_stays_and_belongs_to_one_service() -> None:
    addresses = Addresses()
    kind = service_kind(addresses)
    old = service("old", clusterIP="10.96.0.9", clusterIPs=["10.96.0.9"])
    addresses.hold(old)

    moved = messages(kind, service("old", clusterIP="10.96.0.8"), old)
    assert moved == [
        ("spec.clusterIPs[0]", 'Invalid value: ["10.96.0.8"]: may not change once set')
    ]
    assert "already allocated" in messages(kind, service("new", clusterIP="10.96.0.9"))[0][1]
    assert messages(kind, service("new", clusterIP="None")) == []
