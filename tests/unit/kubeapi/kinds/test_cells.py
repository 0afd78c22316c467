from gputide.kubeapi.kinds.cells import AGE, NAME, at, joined, number, pairs, selector, text, wide


def test_a_cell_is_read_at_its_path_or_is_what_stands_for_nothing() -> None:
    obj = {"metadata": {"name": "a", "creationTimestamp": "t"}, "spec": {"n": 0, "empty": ""}}

    assert at(".spec.n", 7)(obj) == 0
    assert at(".spec.empty", "<none>")(obj) == "<none>"
    assert number("N", ".spec.absent").read(obj) == 0
    assert text("T", ".spec.absent", "-").read(obj) == "-"
    assert wide("W", ".spec.absent").read(obj) == "<none>"
    assert (NAME.read(obj), AGE.read(obj), AGE.type) == ("a", "t", "date")


def test_labels_and_selectors_are_printed_as_kubectl_does() -> None:
    expressions = [
        {"key": "a", "operator": "In", "values": ["x", "y"]},
        {"key": "b", "operator": "NotIn", "values": ["z"]},
        {"key": "c", "operator": "Exists"},
        {"key": "d", "operator": "DoesNotExist"},
    ]
    spec = {"selector": {"matchLabels": {"app": "web"}, "matchExpressions": expressions}}

    assert selector({"spec": spec}) == "app=web,a in (x,y),b notin (z),c,!d"
    assert selector({}) == pairs(None) == joined([]) == "<none>"
    assert pairs({"a": "b", "c": "d"}) == "a=b,c=d"
