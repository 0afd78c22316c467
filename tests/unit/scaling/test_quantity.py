import pytest

from gputide.errors import SettingError
from gputide.scaling.quantity import parse_quantity


@pytest.mark.parametrize(
    ("text", "number"),
    [(20, 20), ("500m", 0.5), ("1k", 1000), ("1Ki", 1024), ("1.5", 1.5), (".5", 0.5), ("2e3", 2000),
     ("1E", 1e18), ("0", 0), (0.25, 0.25), ("5.", 5)],
)  # fmt: skip
def test_quantities_are_read_as_kubernetes_writes_them(text: float | str, number: float) -> None:
    assert parse_quantity(text, setting="x") == pytest.approx(number)


@pytest.mark.parametrize("text", ["", "ten", "-1", "1kk", "1 k", "1m2", "nan", "inf", "%", "1,5"])
def test_what_is_no_quantity_is_named(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        parse_quantity(text, setting="spec.x")
    assert str(caught.value) == (
        f"spec.x: '{text}' is no quantity; write it as 20, 0.5, 500m or 1k"
    )


def test_what_is_beyond_numbers_is_refused() -> None:
    with pytest.raises(SettingError, match="is too large"):
        parse_quantity("1e999", setting="x")
