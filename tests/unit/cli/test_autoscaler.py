import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakes.clock import FakeClock
from gputide.autoscaler.settings import AutoscalerSettings
from gputide.cli.autoscaler import LEASE, SHARED, _bind, _election, _membership, _run, autoscaler
from gputide.errors import GputideError, InputError, SettingError

CLIENT: Any = None  # nothing is asked here
CLOCK: Any = FakeClock()


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"])
def test_an_address_that_nobody_can_listen_on_is_named(address: str) -> None:
    with pytest.raises(SettingError, match=r"listen-address: '.*' is no HOST:PORT"):
        _bind(address)


def test_an_address_in_use_is_told_with_the_reason() -> None:
    with _bind("127.0.0.1:0") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(GputideError, match="in use"):
            _bind(f"127.0.0.1:{port}")


def test_an_ipv4_address_in_brackets_is_taken_too() -> None:
    with _bind("[127.0.0.1]:0") as made:
        assert made.getsockname()[0] == "127.0.0.1"


def test_a_bad_token_file_is_told_before_anything_starts(tmp_path: Path) -> None:
    settings = AutoscalerSettings(token_file=tmp_path / "none")

    with pytest.raises(InputError, match="cannot be read"):
        autoscaler(settings)


def test_one_leads_by_a_name_of_its_own() -> None:
    election = _election(AutoscalerSettings(), CLIENT, CLOCK, "pod-a")

    assert election is not None
    assert (election._terms.name, election._terms.identity) == (LEASE, "pod-a")
    assert not election._terms.is_shared
    assert _membership(AutoscalerSettings(), CLIENT, CLOCK, "pod-a") is None


def test_without_an_election_there_is_none() -> None:
    assert _election(AutoscalerSettings(leader_elect=False), CLIENT, CLOCK, "pod-a") is None


def test_replicas_with_shards_hold_the_lease_together_and_each_its_own() -> None:
    settings = AutoscalerSettings(shards=True, lease_namespace="ours")
    election = _election(settings, CLIENT, CLOCK, "pod-a")
    membership = _membership(settings, CLIENT, CLOCK, "pod-a")

    assert election is not None
    assert (election._terms.identity, election._terms.is_shared) == (SHARED, True)
    assert membership is not None
    assert membership._terms.lease_name == f"{LEASE}-pod-a"
    assert membership._terms.namespace == "ours"
    assert not membership.may_write


def test_a_kubeconfig_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    settings = AutoscalerSettings(
        kubeconfig=str(tmp_path / "none"), listen_address="127.0.0.1:0", leader_elect=False
    )
    with pytest.raises(InputError, match="none"):
        asyncio.run(_run(settings, None))
