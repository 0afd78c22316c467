import ssl

import httpx2
import pytest

from gputide.prometheus.failures import Reply, clean, refusal, unreachable

TARGET = "http://prometheus:9090"


def reply(status: int, body: bytes = b"", **fields: str) -> Reply:
    return Reply(
        status=status,
        content_type=fields.get("content_type", "application/json"),
        location=fields.get("location", ""),
        retry_after=fields.get("retry_after", ""),
        body=body,
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            reply(400, b'{"status":"error","errorType":"bad_data","error":"1:2: parse error"}'),
            "HTTP 400: bad_data: 1:2: parse error",
        ),
        (
            reply(422, b'{"status":"error","errorType":"422","error":"cannot parse"}'),
            "HTTP 422: cannot parse",
        ),
        (
            reply(401, b"Unauthorized\n", content_type="text/plain"),
            "HTTP 401: Unauthorized (give a bearer token, or user and password)",
        ),
        (
            reply(403, b"", content_type="text/plain"),
            "HTTP 403 (these credentials may not read here)",
        ),
        (
            reply(404, b"404 page not found", content_type="text/plain"),
            "HTTP 404: 404 page not found (is the path before /api/v1 right?)",
        ),
        (
            reply(302, location="https://me:pw@login.example/sign-in?next=secret"),
            "redirects to login.example (HTTP 302): a login page or an old address?",
        ),
        (
            reply(502, b"<html><title>502 Bad Gateway</title>", content_type="text/html"),
            (
                "HTTP 502: a web page ('502 Bad Gateway') instead of JSON: "
                "is this the address of Prometheus' HTTP API?"
            ),
        ),
    ],
)
def test_a_refusal_carries_the_servers_own_words(answer: Reply, message: str) -> None:
    error = refusal(TARGET, answer, str)

    assert str(error) == f"{TARGET}: {message}"
    assert error.exit_code == 2
    assert error.status == answer.status


@pytest.mark.parametrize(
    ("status", "is_retryable"), [(429, True), (503, True), (500, False), (422, False)]
)
def test_only_a_busy_server_is_asked_again(status: int, *, is_retryable: bool) -> None:
    assert refusal(TARGET, reply(status), str).is_retryable is is_retryable


def test_a_query_that_was_too_slow_for_the_server_is_not_asked_again() -> None:
    body = b'{"status":"error","errorType":"timeout","error":"query timed out"}'

    assert not refusal(TARGET, reply(503, body), str).is_retryable


def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    assert refusal(TARGET, reply(429, retry_after="7"), str).after_seconds == 7
    assert refusal(TARGET, reply(429, retry_after="Wed, 21 Oct 2026"), str).after_seconds == 0


@pytest.mark.parametrize(
    "words",
    [
        "query processing would load too many samples into memory in query execution",
        "exceeded maximum resolution of 11,000 points per timeseries",
    ],
)
def test_a_query_that_is_too_large_is_told_apart(words: str) -> None:
    body = b'{"status":"error","errorType":"execution","error":"%b"}' % words.encode()

    assert refusal(TARGET, reply(422, body), str).is_too_large


def test_secrets_in_the_servers_words_are_taken_out() -> None:
    answer = reply(401, b"bad token abcdef", content_type="text/plain")

    assert "abcdef" not in str(refusal(TARGET, answer, lambda t: t.replace("abcdef", "***")))


def test_a_servers_text_becomes_one_short_line() -> None:
    assert clean("a\r\n\x1b[31mb\tc") == "a [31mb c"
    assert len(clean("x" * 5000)) == 301


def caused_by(cause: BaseException) -> httpx2.ConnectError:
    error = httpx2.ConnectError("wrapped")
    error.__cause__ = cause
    return error


def certificate_error(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError("refused")
    error.verify_code, error.verify_message = code, "in OpenSSL's words"
    return error


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (certificate_error(20), "unknown CA"),
        (certificate_error(62), "for another name"),
        (certificate_error(10), "has expired"),
        (certificate_error(9), "not valid yet"),
        (certificate_error(26), "refused: in OpenSSL's words"),
        (ssl.SSLError(1, "wrong version number"), "does not speak TLS"),
        (ssl.SSLError(1, "tlsv13 alert certificate required"), "wants a certificate from us"),
        (ssl.SSLError(1, "something else"), "TLS: "),
    ],
)
def test_a_tls_failure_says_which_and_is_not_tried_again(cause: ssl.SSLError, words: str) -> None:
    error = unreachable(TARGET, caused_by(cause))

    assert words in error.problem
    assert not error.is_retryable


def test_a_refused_connection_speaks_with_the_systems_words() -> None:
    group = ExceptionGroup("all failed", [ConnectionRefusedError(111, "Connect call failed")])
    error = unreachable(TARGET, caused_by(group))

    assert error.problem == "cannot connect: Connection refused"
    assert error.is_retryable


@pytest.mark.parametrize(
    ("error", "words", "is_retryable"),
    [
        (httpx2.ConnectTimeout("slow"), "cannot connect in time", True),
        (httpx2.ReadError("reset"), "the connection broke: reset", True),
        (httpx2.DecodingError("zlib"), "compression is broken", False),
        (httpx2.ConnectError(""), "cannot connect: no reason given", True),
    ],
)
def test_other_failures_are_named(
    error: httpx2.HTTPError, words: str, *, is_retryable: bool
) -> None:
    found = unreachable(TARGET, error)

    assert words in found.problem
    assert found.is_retryable is is_retryable
