import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.refusals import code_of
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.negotiate import DISCOVERY, TABLES, Form, media_types, negotiated

KUBECTL_GET = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,"
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
KUBECTL_DISCOVERY = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)


def test_kubectl_get_takes_a_table() -> None:
    accepted = negotiated(KUBECTL_GET, TABLES)
    assert (accepted.form, accepted.version) == (Form.TABLE, "v1")


@pytest.mark.parametrize(
    ("accept", "version"),
    [
        (KUBECTL_DISCOVERY, "v2"),
        ("application/json; as=APIGroupDiscoveryList; v=v2beta1; g=apidiscovery.k8s.io", "v2beta1"),
        ("application/json;as=APIGroupDiscoveryList;v=v9;g=apidiscovery.k8s.io,*/*", ""),
        ("application/json, */*", ""),
    ],
)
def test_discovery_is_aggregated_where_a_known_version_is_taken(accept: str, version: str) -> None:
    assert negotiated(accept, DISCOVERY).version == version


def test_the_content_type_of_aggregated_discovery_says_what_it_is() -> None:
    accepted = negotiated(KUBECTL_DISCOVERY, DISCOVERY)
    expected = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    assert accepted.content_type == expected


@pytest.mark.parametrize(
    "accept", ["", "*/*", "application/*", "application/vnd.kubernetes.protobuf,application/json"]
)
def test_json_serves_whoever_also_takes_it(accept: str) -> None:
    assert negotiated(accept, TABLES).form is Form.PLAIN


@pytest.mark.parametrize(
    "accept",
    [
        "application/vnd.kubernetes.protobuf",
        "text/html",
        "application/json;q=0",
        "application/cbor",
    ],
)
def test_what_cannot_be_served_is_a_406(accept: str) -> None:
    with pytest.raises(StatusError) as caught:
        negotiated(accept, TABLES)
    assert caught.value.code == 406


def test_a_better_quality_comes_first() -> None:
    listed = media_types("application/json;q=0.1, text/html;q=0.9")
    assert [one.type for one in listed] == ["text/html", "application/json"]


@given(st.text(max_size=200))
def test_any_header_gives_a_form_or_a_406(accept: str) -> None:
    assert code_of(lambda: negotiated(accept, TABLES)) in (None, 406)
