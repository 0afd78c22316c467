import pytest

from gputide.exporter.http.negotiate import Encoding, choose_encoding, choose_format
from gputide.exposition import Format

PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", Format.TEXT),
        ("*/*", Format.TEXT),
        ("text/html", Format.TEXT),
        (PROMETHEUS, Format.OPENMETRICS),
        ("application/openmetrics-text;version=2.0.0;q=1,text/plain;q=0.5", Format.TEXT),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.9", Format.TEXT),
        ("application/openmetrics-text;q=nonsense,*/*;q=0.1", Format.TEXT),
        ("APPLICATION/OpenMetrics-Text", Format.OPENMETRICS),
    ],
)
def test_the_format_is_the_one_that_the_client_likes_best(accept: str, expected: Format) -> None:
    assert choose_format(accept) is expected


@pytest.mark.parametrize(
    ("accept_encoding", "expected"),
    [
        ("", Encoding.IDENTITY),
        ("gzip", Encoding.GZIP),
        ("gzip, zstd", Encoding.ZSTD),
        ("gzip;q=1, zstd;q=0.5", Encoding.GZIP),
        ("gzip;q=0", Encoding.IDENTITY),
        ("*;q=0.5", Encoding.ZSTD),
        ("identity, gzip;q=0.5", Encoding.IDENTITY),
        ("br, deflate", Encoding.IDENTITY),
    ],
)
def test_the_encoding_is_the_one_that_the_client_likes_best(
    accept_encoding: str, expected: Encoding
) -> None:
    assert choose_encoding(accept_encoding) is expected
