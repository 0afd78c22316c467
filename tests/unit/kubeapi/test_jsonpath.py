import pytest

from gputide.kubeapi.jsonpath import JsonPathError, compiled

OBJ = {
    "spec": {
        "metrics": [
            {"name": "gpu", "target": {"averageValue": 20}, "on": True},
            {"name": "cpu", "target": {"averageValue": 5}},
        ]
    },
    "metadata": {"annotations": {"a.io/b": "dotted", "plain": "x"}},
    "status": {"conditions": [{"type": "A", "status": "False"}, {"type": "B", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (".spec.metrics[0].target.averageValue", 20),
        (".spec.metrics[-1].name", "cpu"),
        (".spec.metrics[*].name", "gpu"),
        (".spec.metrics[7].name", None),
        ('.status.conditions[?(@.type=="B")].status', "True"),
        (".status.conditions[?(@.type == 'B')].status", "True"),
        ('.status.conditions[?(@.type!="A")].type', "B"),
        ('.status.conditions[?(@.type=="C")].status', None),
        (".spec.metrics[?(@.on)].name", "gpu"),
        (".spec.metrics[?(@.on==true)].name", "gpu"),
        (".spec.metrics[?(@.target.averageValue==5)].name", "cpu"),
        (r".metadata.annotations.a\.io/b", "dotted"),
        (".metadata.annotations['a.io/b']", "dotted"),
        ('.metadata["annotations"].plain', "x"),
        ("{.metadata.annotations.plain}", "x"),
        ("$.metadata.annotations.plain", "x"),
        (".metadata.annotations.*", "dotted"),
        (".nothing.at.all", None),
        (".spec.metrics.name", None),
    ],
)
def test_a_path_finds_its_first_value_or_nothing(path: str, value: object) -> None:
    assert compiled(path)(OBJ) == value


@pytest.mark.parametrize("path", ["spec", ".spec..a", ".a[", ".a[?(@.b>1)]", ".a[0:2]", ".a b"])
def test_a_path_beyond_what_is_known_is_refused_and_named(path: str) -> None:
    with pytest.raises(JsonPathError, match="cannot be read at") as refused:
        compiled(path)

    assert refused.value.path == path


def test_a_path_that_is_too_long_is_refused_unread() -> None:
    with pytest.raises(JsonPathError, match="longer than"):
        compiled("." + "a" * 2000)


def test_a_path_of_too_many_steps_is_refused() -> None:
    with pytest.raises(JsonPathError):
        compiled(".a" * 65)
