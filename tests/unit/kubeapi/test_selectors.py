import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.refusals import code_of
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Selection
from gputide.kubeapi.selectors import field_test, label_test, required_name, select

LABELS = {"app": "web", "tier": "gold", "n": "5", "x.io/team": "a"}


@pytest.mark.parametrize(
    ("selector", "is_match"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app = web , tier=gold", True),
        ("app!=web", False),
        ("absent!=x", True),
        ("app in (web, api)", True),
        ("app in (api)", False),
        ("app notin (api)", True),
        ("absent notin (api)", True),
        ("app", True),
        ("absent", False),
        ("!absent", True),
        ("! app", False),
        ("n>4", True),
        ("n<5", False),
        ("app>4", False),
        ("absent>4", False),
        ("x.io/team=a", True),
        ("absent=", False),
        ("app in (web),!absent,tier", True),
    ],
)
def test_label_selectors_mean_what_kubernetes_says(selector: str, *, is_match: bool) -> None:
    assert label_test(selector)(LABELS) is is_match


@pytest.mark.parametrize("selector", ["a=b=c", "in (a)", "a in b", "=a", "a,,b", "a=(b)", "a b"])
def test_what_is_no_selector_is_a_400(selector: str) -> None:
    with pytest.raises(StatusError) as caught:
        label_test(selector)
    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("selector", "is_match"),
    [
        ("metadata.name=a", True),
        ("metadata.name!=a", False),
        ("metadata.name==a,spec.on=true", True),
        ("spec.missing=", True),
        (r"spec.text=one\,two\=2", True),
        ("spec.count=3", True),
    ],
)
def test_field_selectors_look_at_any_path(selector: str, *, is_match: bool) -> None:
    obj = {"metadata": {"name": "a"}, "spec": {"on": True, "text": "one,two=2", "count": 3}}
    assert field_test(selector)(obj) is is_match


def test_a_field_selector_without_a_comparison_is_a_400() -> None:
    with pytest.raises(StatusError):
        field_test("metadata.name")


def test_a_selection_needs_both_selectors() -> None:
    matches = select(Selection(label_selector="app=web", field_selector="metadata.name=a"))
    assert matches({"metadata": {"name": "a", "labels": {"app": "web"}}})
    assert not matches({"metadata": {"name": "b", "labels": {"app": "web"}}})
    assert not matches({"metadata": {"name": "a"}})


def test_the_one_name_of_a_field_selector_is_known() -> None:
    assert required_name("status.phase=x,metadata.name=a") == "a"
    assert required_name("metadata.name!=a") == ""


@given(st.text(max_size=60))
def test_any_text_is_a_selector_or_a_400(selector: str) -> None:
    assert code_of(lambda: label_test(selector)({})) in (None, 400)
    assert code_of(lambda: field_test(selector)({})) in (None, 400)
