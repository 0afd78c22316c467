from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Kind
from gputide.kubeapi.patch import apply, record_update
from gputide.kubeapi.patch.shape import canonical

KIND = Kind(
    group="apps",
    version="v1",
    kind="Thing",
    plural="things",
    merge_keys={
        "spec.containers": "name",
        "spec.containers.ports": "containerPort,protocol=TCP",
        "spec.tags": "",
    },
    atomic_maps=frozenset({"spec.selector"}),
)
NOW = datetime(2026, 12, 1, 2, 3, 4, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def thing(**spec: object) -> dict:
    return {
        "apiVersion": "apps/v1",
        "kind": "Thing",
        "metadata": {"name": "t"},
        "spec": spec,
    }


def applied(
    current: dict | None, patch: dict, manager: str = "me", *, is_forced: bool = False
) -> dict:
    return apply(current, patch, KIND, manager=manager, is_forced=is_forced, now=NOW)


def rows(obj: dict) -> dict:
    return {one["manager"]: one for one in obj["metadata"]["managedFields"]}


names = st.sampled_from("abc")
containers = st.lists(
    st.fixed_dictionaries(
        {"name": names},
        optional={
            "image": st.sampled_from("xy"),
            "ports": st.lists(
                st.fixed_dictionaries({"containerPort": st.integers(1, 2)}),
                unique_by=lambda one: one["containerPort"],
            ),
        },
    ),
    unique_by=lambda one: one["name"],
    max_size=3,
)
things = st.fixed_dictionaries(
    {},
    optional={
        "containers": containers,
        "tags": st.lists(names, unique=True),
        "selector": st.dictionaries(names, names),
        "replicas": st.integers(0, 3),
        "limits": st.dictionaries(names, st.integers(0, 3)),
    },
).map(lambda spec: thing(**spec))


@given(patch=things)
def test_an_apply_to_nothing_is_the_object_and_owns_its_fields(patch: dict) -> None:
    made = applied(None, patch)

    assert made["spec"] == patch["spec"]
    assert {one["operation"] for one in made["metadata"].get("managedFields", [])} <= {"Apply"}


@settings(deadline=None)
@given(base=things, patch=things)
def test_an_apply_twice_is_an_apply_once(base: dict, patch: dict) -> None:
    held = record_update(None, base, KIND, manager="other", now=NOW)
    once = applied(held, patch, is_forced=True)
    twice = apply(once, patch, KIND, manager="me", is_forced=False, now=LATER)

    assert twice == once


@settings(deadline=None)
@given(first=things, second=things)
def test_what_one_applier_wants_last_is_all_that_remains_of_him(first: dict, second: dict) -> None:
    result = applied(applied(None, first), second)

    assert without_order(pruned(result["spec"])) == without_order(pruned(second["spec"]))


@settings(deadline=None)
@given(mine=things, yours=things)
def test_a_refused_apply_is_one_that_would_change_what_another_owns(
    mine: dict, yours: dict
) -> None:
    held = applied(None, yours, "you")
    forced = applied(held, mine, is_forced=True)
    try:
        result = applied(held, mine)
    except StatusError:
        assert forced["spec"] != held["spec"]
    else:
        assert forced == result
        yours_again = applied(result, yours, "you")
        assert without_order(yours_again["spec"]) == without_order(result["spec"])


def pruned(spec: dict) -> dict:
    return {name: one for name, one in spec.items() if one not in ({}, [])}


def without_order(value: object) -> object:
    """Lists that merge keep the order of what was there before."""
    if isinstance(value, dict):
        return {name: without_order(one) for name, one in value.items() if one != []}
    if isinstance(value, list):
        return sorted(canonical(without_order(one)) for one in value)
    return value


def test_a_conflict_names_writer_and_field_in_the_words_of_kubernetes() -> None:
    held = record_update(None, thing(replicas=1), KIND, manager="kubectl-create", now=NOW)
    with pytest.raises(StatusError) as refused:
        applied(held, thing(replicas=2))

    assert refused.value.code == 409
    assert str(refused.value) == (
        'Apply failed with 1 conflict: conflict with "kubectl-create" using apps/v1: .spec.replicas'
    )
    assert refused.value.to_object()["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "kubectl-create" using apps/v1',
            "field": ".spec.replicas",
        }
    ]


def test_several_conflicts_are_listed_by_writer() -> None:
    held = applied(None, thing(replicas=1, containers=[{"name": "web", "image": "x"}]), "you")
    held = record_update(held, held | {"status": {"n": 1}}, KIND, manager="s", now=NOW)
    with pytest.raises(StatusError) as refused:
        applied(
            held, thing(replicas=2, containers=[{"name": "web", "image": "y"}]) | {"status": {}}
        )

    assert str(refused.value) == (
        'Apply failed with 2 conflicts: conflicts with "you":\n'
        "- .spec.replicas\n"
        '- .spec.containers[name="web"].image'
    )


def test_one_value_may_have_two_owners_and_stays_until_both_drop_it() -> None:
    held = applied(None, thing(replicas=1, a=1), "you")
    shared = applied(held, thing(replicas=1, b=1))

    mine_only = applied(shared, thing(a=1), "you")
    assert mine_only["spec"] == {"replicas": 1, "a": 1, "b": 1}

    nobodys = applied(mine_only, thing(b=1))
    assert nobodys["spec"] == {"a": 1, "b": 1}


def test_force_moves_the_ownership() -> None:
    held = applied(None, thing(replicas=1, a=1), "you")
    forced = applied(held, thing(replicas=2), is_forced=True)

    assert forced["spec"] == {"replicas": 2, "a": 1}
    assert rows(forced)["you"]["fieldsV1"] == {"f:spec": {"f:a": {}}}
    assert rows(forced)["me"]["fieldsV1"] == {"f:spec": {"f:replicas": {}}}


def test_an_item_dropped_by_its_last_applier_goes_with_what_nobody_owns_in_it() -> None:
    held = applied(None, thing(containers=[{"name": "a"}, {"name": "b"}]))
    defaulted = {
        **held,
        "spec": {"containers": [{"name": "a", "policy": "Always"}, {"name": "b", "policy": "x"}]},
    }

    result = applied(defaulted, thing(containers=[{"name": "b"}]))
    assert result["spec"] == {"containers": [{"name": "b", "policy": "x"}]}


def test_an_item_dropped_stays_while_somebody_else_owns_a_part_of_it() -> None:
    held = applied(None, thing(containers=[{"name": "a", "image": "x"}]))
    sized = applied(held, thing(containers=[{"name": "a", "size": 1}]), "you")

    result = applied(sized, thing())
    assert result["spec"] == {"containers": [{"name": "a", "size": 1}]}


def test_a_key_left_out_of_an_item_counts_by_its_default() -> None:
    port = {"containerPort": 80, "protocol": "TCP"}
    held = applied(None, thing(containers=[{"name": "a", "ports": [port]}]), "you")
    result = applied(held, thing(containers=[{"name": "a", "ports": [{"containerPort": 80}]}]))

    assert result["spec"]["containers"][0]["ports"] == [port]


def test_a_selector_is_owned_and_replaced_as_a_whole() -> None:
    held = applied(None, thing(selector={"app": "a", "x": "y"}))

    assert applied(held, thing(selector={"app": "b"}))["spec"]["selector"] == {"app": "b"}
    assert rows(held)["me"]["fieldsV1"] == {"f:spec": {"f:selector": {}}}


def test_an_apply_that_changes_nothing_keeps_the_time() -> None:
    held = applied(None, thing(replicas=1))

    assert apply(held, thing(replicas=1), KIND, manager="me", is_forced=False, now=LATER) == held


def test_nulls_in_what_is_applied_count_as_left_out() -> None:
    patch = thing(replicas=1, containers=None)
    patch["metadata"]["creationTimestamp"] = None

    assert applied(None, patch)["spec"] == {"replicas": 1}


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"managedFields": [{"manager": "x"}]}, 400),
        ({"resourceVersion": "9"}, 409),
        ({"uid": "another"}, 409),
    ],
)
def test_a_patch_that_speaks_of_another_state_is_refused(metadata: dict, code: int) -> None:
    patch = thing(replicas=1)
    patch["metadata"] |= metadata
    with pytest.raises(StatusError) as refused:
        applied(thing(replicas=1), patch)

    assert refused.value.code == code


def test_an_apply_without_a_manager_is_refused() -> None:
    with pytest.raises(StatusError) as refused:
        applied(None, thing(replicas=1), "")

    assert refused.value.code == 422
    assert refused.value.problems[0].field == "fieldManager"
