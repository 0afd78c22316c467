import pytest

from gputide.errors import SettingError
from gputide.exporter.simulated.profiles import MAX_GPUS, PROFILES, Layout, parse_simulation


def test_a_name_a_count_and_a_layout_make_a_node() -> None:
    gpus = parse_simulation("h100x6, A10:shared,h100-mig,a100x2:idle").gpus

    assert [gpu.profile.name for gpu in gpus] == ["h100"] * 6 + ["a10", "h100-mig"] + [
        "a100-40"
    ] * 2
    assert [gpu.layout for gpu in gpus[5:9]] == [
        Layout.EXCLUSIVE,
        Layout.SHARED,
        Layout.EXCLUSIVE,
        Layout.IDLE,
    ]


@pytest.mark.parametrize(
    "text", ["", "b200", "h100x", "x8", "h100x8:", "h100:shared:idle", "h100,"]
)
def test_what_there_is_not_is_refused_with_the_profiles_there_are(text: str) -> None:
    with pytest.raises(SettingError, match="a100-mig") as error:
        parse_simulation(text)

    assert error.value.setting == "simulate"
    assert "h100x8" in str(error.value)


@pytest.mark.parametrize("text", ["t4x0", "t4x999", "t4x40,t4x40"])
def test_a_node_has_a_sensible_number_of_gpus(text: str) -> None:
    with pytest.raises(SettingError, match=str(MAX_GPUS)):
        parse_simulation(text)


def test_a_layout_there_is_not_is_refused() -> None:
    with pytest.raises(SettingError, match="exclusive, shared, idle"):
        parse_simulation("t4:mps")


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_in_proportion(name: str) -> None:
    profile = PROFILES[name]

    assert profile.idle_watts < profile.min_limit_watts < profile.limit_watts
    assert profile.idle_sm_hertz < profile.max_sm_hertz
    assert profile.full_load_celsius < profile.slowdown_celsius < profile.shutdown_celsius
    assert sum(slot.memory_bytes for slot in profile.mig) < profile.memory_bytes
    assert sum(slot.compute_ratio for slot in profile.mig) <= 1
    assert len({slot.gpu_instance_id for slot in profile.mig}) == len(profile.mig)
