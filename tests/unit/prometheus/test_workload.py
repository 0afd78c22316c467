import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import SettingError
from gputide.prometheus.workload import Workload

NAMES = st.builds("x{}x".format, st.text("ab09-", max_size=70))
HASH = st.text("bcdfghjklmnpqrstvwxz2456789", min_size=8, max_size=10)
RANDOM = st.text("bcdfghjklmnpqrstvwxz2456789", min_size=5, max_size=5)


@settings(deadline=None, max_examples=50)
@given(
    name=NAMES,
    hash_=HASH,
    end=RANDOM,
)
def test_the_pods_of_a_deployment_match_however_long_its_name(
    name: str, hash_: str, end: str
) -> None:
    pod = f"{name}-{hash_}-"[:58] + end  # as Kubernetes makes it

    assert re.fullmatch(Workload(namespace="n", name=name).pods_pattern, pod)


@pytest.mark.parametrize(
    "pod", ["web-api-7b486f6bf-x1y2z", "my-web-7b486f6bf-x1y2z", "web-0", "web-7b486f6bf-x1y2z6"]
)
def test_the_pods_of_others_do_not_match(pod: str) -> None:
    assert not re.fullmatch(Workload(namespace="n", name="web").pods_pattern, pod)


@pytest.mark.parametrize(
    ("kind", "pod"),
    [("StatefulSet", "web.1-12"), ("DaemonSet", "web.1-x1y2z"), ("ReplicaSet", "web.1-x1y2z")],
)
def test_other_kinds_name_their_pods_their_own_way(kind: str, pod: str) -> None:
    pattern = Workload(namespace="n", name="web.1", kind=kind).pods_pattern

    assert re.fullmatch(pattern, pod)
    assert not re.fullmatch(pattern, pod.replace(".", "x"))


@pytest.mark.parametrize("name", ['a"} or vector(1) #', "a\nb", "", "A", "-a", "a" * 300, "a\\"])
def test_a_name_that_could_break_out_of_a_query_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="name"):
        Workload(namespace="n", name=name)
    with pytest.raises(SettingError, match="namespace"):
        Workload(namespace=name, name="n")


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(SettingError, match="'Job' is not one of Deployment"):
        Workload(namespace="n", name="n", kind="Job")
