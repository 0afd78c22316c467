import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gputide.errors import InputError, SettingError
from gputide.tunnel.identity.tokens import (
    DirectoryTokens,
    Token,
    TokenError,
    TokenProblem,
    format_token,
    new_token,
    parse_token,
    redeem,
)

NOW = 1_790_000_000.0


def made(store: DirectoryTokens, *, uses: int = 1, nodes: tuple[str, ...] = ("edge-gpu-*",)) -> str:
    token, record = new_token(
        nodes=nodes,
        site="s1",
        not_after_seconds=NOW + 3600,
        uses=uses,
        fingerprint="ab" * 32,
        random=os.urandom,
    )
    store.add(record)
    return format_token(token)


@pytest.fixture
def store(tmp_path: Path) -> DirectoryTokens:
    return DirectoryTokens(tmp_path / "tokens")


def problem_of(
    store: DirectoryTokens, text: str, *nodes: str, now_seconds: float = NOW
) -> TokenProblem:
    with pytest.raises(TokenError) as caught:
        redeem(store, parse_token(text), nodes=nodes or ("edge-gpu-1",), now_seconds=now_seconds)
    return caught.value.problem


def test_a_token_gives_its_nodes_once(store: DirectoryTokens) -> None:
    text = made(store)
    record = redeem(store, parse_token(text), nodes=("edge-gpu-1", "edge-gpu-*"), now_seconds=NOW)

    assert record.site == "s1"
    assert problem_of(store, text) is TokenProblem.USED


def test_each_way_to_misuse_a_token_has_its_name(store: DirectoryTokens) -> None:
    text = made(store)
    token = parse_token(text)
    altered = Token(id=token.id, secret=token.secret[:-1] + "_", fingerprint=token.fingerprint)

    assert problem_of(store, format_token(altered)) is TokenProblem.ALTERED
    assert problem_of(store, text, "edge-cpu-1") is TokenProblem.WRONG_NAME
    assert problem_of(store, text, "edge-*") is TokenProblem.WRONG_NAME
    assert problem_of(store, text, now_seconds=NOW + 3600) is TokenProblem.EXPIRED
    assert problem_of(store, text.replace(token.id, "0" * 16)) is TokenProblem.UNKNOWN
    redeem(store, token, nodes=("edge-gpu-1",), now_seconds=NOW)  # nothing of this spent it


@pytest.mark.parametrize(
    "text",
    ["", "gpt1.a.b", "gpt1.a.b.c", "gpt2.0011223344556677.s.f", "gpt1.../../../etc.s.f", "ü.a.b.c"],
)
def test_what_is_no_token_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(TokenError) as caught:
        parse_token(text)
    assert caught.value.problem is TokenProblem.UNREADABLE
    assert not text or text not in str(caught.value)


def test_a_token_for_several_uses_counts_them_over_all_gateways(store: DirectoryTokens) -> None:
    token = parse_token(made(store, uses=5))

    def try_it(number: int) -> bool:
        try:
            redeem(store, token, nodes=(f"edge-gpu-{number}",), now_seconds=NOW)
        except TokenError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(try_it, range(20))) == 5


def test_neither_the_store_nor_a_representation_holds_the_secret(
    store: DirectoryTokens, tmp_path: Path
) -> None:
    token = parse_token(made(store))
    kept = b"".join(path.read_bytes() for path in (tmp_path / "tokens").iterdir())
    assert token.secret.encode() not in kept
    assert token.secret not in repr(token)


def test_expired_tokens_are_swept_and_others_stay(store: DirectoryTokens) -> None:
    text = made(store)
    redeem(store, parse_token(text), nodes=("edge-gpu-1",), now_seconds=NOW)
    assert store.sweep(now_seconds=NOW) == 0
    assert store.sweep(now_seconds=NOW + 3600) == 1
    assert problem_of(store, text) is TokenProblem.UNKNOWN


def test_a_damaged_record_is_named_and_uses_are_bounded(
    store: DirectoryTokens, tmp_path: Path
) -> None:
    token = parse_token(made(store))
    (tmp_path / "tokens" / f"{token.id}.json").write_bytes(b"{")
    with pytest.raises(InputError, match=f"{token.id}.json: is damaged"):
        store.find(token.id)
    with pytest.raises(SettingError, match="uses: must be 1 to"):
        made(store, uses=0)
