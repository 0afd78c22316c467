import h11
import pytest

from gputide.tunnel.gateway.entrance.ask import Ask, BadAskError, read_ask


def request(
    target: str = "/metrics", *headers: tuple[str, str], method: str = "GET"
) -> h11.Request:
    given = headers or (("Host", "edge-1:9400"),)
    return h11.Request(method=method, target=target, headers=list(given))


def refusal(one: h11.Request, port: int | None = 9400) -> tuple[int, str]:
    with pytest.raises(BadAskError) as caught:
        read_ask(one, port=port)
    return caught.value.status, caught.value.text


def test_the_node_is_in_the_host_and_the_port_is_the_entrances() -> None:
    ask = read_ask(
        request(
            "/metrics?a=b",
            ("Host", "Edge-1:9400"),
            ("Accept", "text/plain"),
            ("X-Prometheus-Scrape-Timeout-Seconds", "7.5"),
            ("Connection", "keep-alive"),
        ),
        port=9400,
    )
    assert ask == Ask(
        node="edge-1",
        port=9400,
        path="/metrics",
        query="a=b",
        headers=(("accept", "text/plain"),),
        seconds=7.5,
    )


def test_a_proxy_takes_the_absolute_form_and_connect() -> None:
    absolute = request("http://edge-1:9100/metrics?x", ("Host", "edge-1:9100"))
    found = read_ask(absolute, port=None)
    assert (found.node, found.port, found.path, found.query) == ("edge-1", 9100, "/metrics", "x")
    connect = request("edge-1:10250", ("Host", "x"), method="CONNECT")
    assert read_ask(connect, port=None) == Ask(node="edge-1", port=10_250, is_connect=True)
    assert read_ask(request("http://edge-1/", ("Host", "edge-1")), port=None).port == 80


@pytest.mark.parametrize(
    ("one", "port", "status"),
    [
        (request(method="POST"), 9400, 405),
        (request("edge-1:22", ("Host", "x"), method="CONNECT"), 9400, 405),
        (request("edge-1", ("Host", "x"), method="CONNECT"), None, 400),
        (request("/metrics", ("Host", "edge-1")), None, 400),
        (request("http://edge-1:9400/metrics", ("Host", "edge-2:9400")), 9400, 400),
        (request("http://user@edge-1:9400/", ("Host", "user@edge-1:9400")), 9400, 400),
        (request("/metrics", ("Host", "edge-1:9100")), 9400, 421),
        (request("/metrics", ("Host", "10.0.0.1/x")), 9400, 400),
        (request("/metrics", ("Host", "edge_1")), 9400, 400),
        (request("ftp://edge-1/", ("Host", "edge-1")), None, 400),
    ],
)
def test_what_is_no_scrape_of_a_node_is_refused(
    one: h11.Request, port: int | None, status: int
) -> None:
    assert refusal(one, port)[0] == status


@pytest.mark.parametrize("text", ["soon", "-1", "0", "1e9"])
def test_a_deadline_that_is_none_is_the_usual_one(text: str) -> None:
    headers = (("Host", "edge-1"), ("X-Prometheus-Scrape-Timeout-Seconds", text))
    assert read_ask(request("/metrics", *headers), port=9400).seconds == 10.0
