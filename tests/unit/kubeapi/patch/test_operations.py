import pytest

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.patch import json_patch
from gputide.kubeapi.patch.operations import MAX_OPERATIONS


def test_operations_are_applied_in_order_and_the_object_given_stays() -> None:
    obj = {"spec": {"replicas": 1, "args": ["a", "b"]}}
    patched = json_patch(
        obj,
        [
            {"op": "test", "path": "/spec/replicas", "value": 1},
            {"op": "replace", "path": "/spec/replicas", "value": 3},
            {"op": "add", "path": "/spec/args/-", "value": "c"},
            {"op": "remove", "path": "/spec/args/0"},
            {"op": "copy", "from": "/spec/replicas", "path": "/spec/wanted"},
            {"op": "move", "from": "/spec/wanted", "path": "/spec/moved"},
        ],
    )

    assert patched == {"spec": {"replicas": 3, "args": ["b", "c"], "moved": 3}}
    assert obj == {"spec": {"replicas": 1, "args": ["a", "b"]}}


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ({"op": "remove", "path": "/spec/nothing"}, 422),
        ({"op": "test", "path": "/spec/replicas", "value": 2}, 422),
        ({"op": "add", "path": "/spec/replicas/deeper", "value": 2}, 422),
        ({"op": "replace", "path": "", "value": 5}, 422),
        ({"op": "add", "path": "/spec/args/9", "value": 2}, 422),
        ({"op": "turn", "path": "/spec"}, 400),
        ({"op": "add", "path": "/spec"}, 400),
        ({"path": "/spec", "value": 1}, 400),
        ("remove /spec", 400),
        (7, 400),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_with_the_code_of_kubernetes(
    operation: dict, code: int
) -> None:
    with pytest.raises(StatusError) as refused:
        json_patch({"spec": {"replicas": 1, "args": []}}, [operation])

    assert refused.value.code == code


def test_a_patch_of_too_many_operations_is_refused_unread() -> None:
    with pytest.raises(StatusError) as refused:
        json_patch({}, [{"op": "add", "path": "/a", "value": 1}] * (MAX_OPERATIONS + 1))

    assert refused.value.code == 413
