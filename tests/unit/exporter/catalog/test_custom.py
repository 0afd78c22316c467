from gputide.exporter.catalog import custom
from gputide.exporter.model import ProcessReading

PROCESS = ProcessReading(
    pid=1,
    name="a",
    memory_bytes=5,
    sm_ratio=0.1,
    memory_copy_ratio=0.2,
    encoder_ratio=0.3,
    decoder_ratio=0.4,
)


def test_labels_are_in_the_order_in_which_they_are_printed() -> None:
    for labels in (custom.CONTAINER_LABELS, custom.PROCESS_LABELS, custom.DEVICE_LABELS):
        assert list(labels) == sorted(labels)
    assert len(custom.PROCESS_LABELS) == 14


def test_each_process_metric_has_a_value_of_its_own_and_an_illegal_twin() -> None:
    values = [row.source(PROCESS) for row in custom.PROCESSES]

    assert sorted(v for v in values if v is not None) == [0.1, 0.2, 0.3, 0.4, 5]
    for row in custom.PROCESSES:
        assert row.illegal_name == row.name.replace("CUSTOM_", "CUSTOM_ILLEGAL_")
