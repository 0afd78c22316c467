from http import HTTPStatus

from gputide.exporter.http.model import Request, refusal


def test_a_refusal_is_a_line_with_its_headers() -> None:
    response = refusal(HTTPStatus.UNAUTHORIZED, "unauthorized", WWW_Authenticate="Basic")

    assert response.body == b"unauthorized\n"
    assert response.headers == {"WWW-Authenticate": "Basic"}


def test_a_request_without_accept_headers_asks_for_nothing_special() -> None:
    request = Request(method="GET", path="/metrics", headers={})

    assert (request.accept, request.accept_encoding) == ("", "")
