from fakes.clock import FakeClock
from gputide.exporter import reasons
from gputide.exporter.simulated.load import ConstantLoad
from gputide.exporter.simulated.profiles import PROFILES, parse_simulation
from gputide.exporter.simulated.reader import SimulatedReader

TEXTS = {value for name, value in vars(reasons).items() if name.isupper()}


def test_simulated_gpus_give_the_reasons_that_real_ones_give() -> None:
    node = parse_simulation(",".join(PROFILES))
    reader = SimulatedReader(node, ConstantLoad(0.5), FakeClock())
    given = {why for each in reader.devices() for why in reader.read(each).unsupported.values()}

    assert given <= TEXTS


def test_a_reason_is_one_line_without_a_number_that_moves() -> None:
    assert all("\n" not in each and not each.endswith(".") for each in TEXTS)
