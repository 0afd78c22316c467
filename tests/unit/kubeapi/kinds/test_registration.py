import pytest

from fakes.kind_rows import messages, row
from gputide.kubeapi.kinds import Addresses, builtin_kinds
from gputide.kubeapi.kinds.registration import API_SERVICE, DEFINITION


def definition(name: str = "tides.x.io", **spec: object) -> dict:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"a": 1}},
    }
    names = {"kind": "Tide", "plural": "tides"}
    base = {"group": "x.io", "scope": "Cluster", "names": names, "versions": [version]}
    return {"metadata": {"name": name}, "spec": base | spec}


def test_a_definition_gets_its_other_names() -> None:
    assert DEFINITION.default is not None
    names = DEFINITION.default(definition())["spec"]["names"]

    assert (names["singular"], names["listKind"]) == ("tide", "TideList")
    assert messages(DEFINITION, definition()) == []


@pytest.mark.parametrize(
    ("obj", "field"),
    [
        (definition("tide.x.io"), "metadata.name"),
        (definition(versions=[{"name": "v1", "served": False}]), "spec.versions"),
        (
            definition(versions=[{"name": "v1", "served": True, "storage": True}]),
            "spec.versions[0].schema.openAPIV3Schema",
        ),
        (definition(conversion={"strategy": "Webhook"}), "spec.conversion.strategy"),
    ],
)
def test_what_is_wrong_with_a_definition_is_named(obj: dict, field: str) -> None:
    assert [one[0] for one in messages(DEFINITION, obj)] == [field]


def test_group_and_scope_stay() -> None:
    old = definition()
    assert messages(DEFINITION, definition(scope="Namespaced"), old)[0][0] == "spec.scope"


def service(**spec: object) -> dict:
    base = {"group": "x.io", "version": "v1", "service": {"name": "s", "namespace": "n"}}
    return {"metadata": {"name": "v1.x.io"}, "spec": base | spec}


def test_an_api_service_says_whose_it_is_and_whether_it_answers() -> None:
    down = service() | {
        "status": {"conditions": [{"type": "Available", "status": "False", "reason": "R"}]}
    }

    assert row(API_SERVICE, down) == {
        "Name": "v1.x.io",
        "Service": "n/s",
        "Available": "False (R)",
        "Age": None,
    }
    assert row(API_SERVICE, service(service=None))["Service"] == "Local"
    assert row(API_SERVICE, service())["Available"] == "Unknown"
    assert API_SERVICE.default is not None
    assert API_SERVICE.default(service())["spec"]["service"]["port"] == 443
    assert [one[0] for one in messages(API_SERVICE, service(version="v2"))] == ["metadata.name"]
    both = messages(API_SERVICE, service(insecureSkipTLSVerify=True, caBundle="eA=="))
    assert both[0][0] == "spec.insecureSkipTLSVerify"


def test_every_built_in_kind_has_a_place_of_its_own() -> None:
    kinds = builtin_kinds(Addresses())
    places = {(kind.group, kind.version, kind.plural) for kind in kinds}

    assert len(places) == len(kinds) == 22
    assert all(kind.singular == kind.kind.lower() for kind in kinds)
    assert all(any(one.name == "Name" for one in kind.columns) for kind in kinds)
