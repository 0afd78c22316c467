import base64

import bcrypt
import pytest

from gputide.exporter.http.auth import Verifier, parse_basic

HASH = bcrypt.hashpw(b"right", bcrypt.gensalt(rounds=4)).decode()


def header(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("user", "password", "is_right"),
    [("prom", "right", True), ("prom", "wrong", False), ("nobody", "right", False)],
)
async def test_only_the_users_own_password_is_right(
    user: str, password: str, *, is_right: bool
) -> None:
    verifier = Verifier()

    for _ in range(2):  # the second time from what was kept
        assert await verifier.is_right(header(user, password), {"prom": HASH}) is is_right


async def test_a_changed_hash_forgets_what_was_right() -> None:
    verifier = Verifier()
    assert await verifier.is_right(header("prom", "right"), {"prom": HASH})

    other = bcrypt.hashpw(b"new", bcrypt.gensalt(rounds=4)).decode()

    assert not await verifier.is_right(header("prom", "right"), {"prom": other})


async def test_a_flood_of_wrong_passwords_keeps_the_right_one_and_bounded_memory() -> None:
    verifier = Verifier()
    users = {"prom": HASH}
    assert await verifier.is_right(header("prom", "right"), users)
    for number in range(300):
        verifier._keep(str(number).encode(), is_right=False)

    assert len(verifier._refused) == 256
    assert len(verifier._verified) == 1


@pytest.mark.parametrize(
    "authorization", ["", "Bearer abc", "Basic ???", "Basic " + base64.b64encode(b"x").decode()]
)
def test_what_is_no_basic_authorization_is_nobody(authorization: str) -> None:
    assert parse_basic(authorization) is None
