from gputide.kubeapi.protobuf.catalog import MESSAGES, READ

PLAIN = {"string", "bytes", "int", "bool", "time", "int_or_string", "map", "bytes_map"}


def test_each_type_is_known_and_each_message_is_used() -> None:
    types = {type_.rstrip("*?") for fields in MESSAGES.values() for _, type_ in fields.values()}
    assert types - PLAIN <= set(MESSAGES)
    assert set(MESSAGES) - types == set(READ)
