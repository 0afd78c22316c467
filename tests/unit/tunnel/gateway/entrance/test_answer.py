import pytest

from gputide.tunnel.gateway.entrance.answer import STATUS_OF, answer_of
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_status(code: Code) -> None:
    assert 400 <= STATUS_OF[code] < 600


def test_the_reason_is_one_bounded_line_of_plain_text() -> None:
    answer = answer_of(TunnelRefusedError(Code.GONE, "edge-1\r\nX: y\n\u00e4" + "z" * 500))
    assert answer.status == 502
    assert answer.reason.startswith("edge-1 X: y ?zzz")
    assert len(answer.reason) == 200
    assert answer.body.endswith(b"z\n")


def test_a_refusal_without_words_has_those_of_its_code() -> None:
    answer = answer_of(TunnelRefusedError(Code.TARGET_TIMED_OUT, ""))
    assert (answer.status, answer.reason) == (504, "target timed out")
    assert ("Gputide-Outcome", "target_timed_out") in answer.headers
