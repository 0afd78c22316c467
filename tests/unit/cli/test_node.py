import os

import pytest

from fakes.clock import FakeClock
from gputide.cli.node import Simulation, new_collector
from gputide.errors import InputError, SettingError
from gputide.exporter.collect import Collector
from gputide.exporter.nobody import Nobody
from gputide.exporter.owners.source import NodeOwners
from gputide.exporter.settings import ExporterSettings
from gputide.exporter.simulated.reader import SimulatedReader


def collector(simulation: Simulation, **settings: object) -> Collector:
    given = ExporterSettings(**settings)  # type: ignore[arg-type] # a test's own settings
    return new_collector(given, simulation, FakeClock(), interval_seconds=1)


def test_simulated_gpus_and_owners_are_taken_where_they_are_asked_for() -> None:
    one = collector(Simulation(simulate="t4x2", simulate_load=f"processes:{os.getpid()}"))

    assert isinstance(one._reader, SimulatedReader)
    assert one._node_name == "simulated-gpu-node"


def test_owners_are_asked_for_only_on_kubernetes() -> None:
    assert isinstance(collector(Simulation())._owners, Nobody)
    assert isinstance(collector(Simulation(), kubernetes=True, node_name="n")._owners, NodeOwners)


@pytest.mark.parametrize("field", ["simulate_load", "faults"])
def test_settings_of_a_simulation_need_one(field: str) -> None:
    with pytest.raises(SettingError, match="does nothing without --simulate"):
        Simulation(**{field: "x"})  # type: ignore[arg-type] # either is refused alike


def test_a_load_file_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv: cannot be read"):
        collector(Simulation(simulate="t4", simulate_load="file:nowhere.csv"))
