from fakes.owner_nodes import pod_record
from gputide.exporter.ports import PodRecord


def test_a_pod_is_what_the_pod_directory_promises() -> None:
    record: PodRecord = pod_record("chat", containers=("main", "side"))

    assert record.owner.container == ""
    assert record.container_names == ("main", "side")
    assert (record.is_over, record.is_deleting) == (False, False)
    assert (record.container_ids, record.gpu_memory_units, record.annotations) == ({}, {}, {})
