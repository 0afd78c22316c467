from hypothesis import given
from hypothesis import strategies as st

from gputide.kubeapi.aggregation.headers import forwarded, identity, returned
from gputide.kubeapi.model import User

USER = User(
    name="ann", groups=("dev", "system:authenticated"), uid="u-1", extra={"Scopes/a": ("x", "y")}
)


def test_what_a_client_says_about_itself_stays_on_this_side() -> None:
    given_ones = [
        (b"accept", b"application/json"),
        (b"authorization", b"Bearer secret"),
        (b"cookie", b"c"),
        (b"x-remote-user", b"admin"),
        (b"x-remote-group", b"system:masters"),
        (b"x-remote-extra-scopes", b"all"),
        (b"host", b"front"),
        (b"connection", b"keep-alive, X-Private"),
        (b"x-private", b"p"),
        (b"transfer-encoding", b"chunked"),
    ]

    assert forwarded(given_ones, USER) == [
        (b"accept", b"application/json"),
        (b"x-remote-user", b"ann"),
        (b"x-remote-uid", b"u-1"),
        (b"x-remote-group", b"dev"),
        (b"x-remote-group", b"system:authenticated"),
        (b"x-remote-extra-scopes%2Fa", b"x"),
        (b"x-remote-extra-scopes%2Fa", b"y"),
    ]


@given(name=st.text(max_size=20), group=st.text(max_size=20))
def test_a_name_cannot_make_a_header_of_its_own(name: str, group: str) -> None:
    for header, value in identity(User(name=name, groups=(group,))):
        assert header in (b"x-remote-user", b"x-remote-group")
        assert not set(value) & set(b"\r\n\0")


def test_a_response_loses_what_belongs_to_its_connection() -> None:
    given_ones = [
        (b"Content-Type", b"text/plain"),
        (b"Keep-Alive", b"5"),
        (b"Connection", b"close"),
    ]

    assert returned(given_ones) == [(b"content-type", b"text/plain")]
