from gputide.kubeapi.kinds.schemas import STRING, closed, described, items


def test_words_make_schemas() -> None:
    assert items(STRING) == {"type": "array", "items": {"type": "string"}}
    assert closed("a", a=STRING) == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }
    assert "required" not in closed(a=STRING)
    assert set(described("A thing.", spec=STRING)["properties"]) == {
        "apiVersion",
        "kind",
        "metadata",
        "spec",
    }
