import json

import numpy as np
import pytest

from gputide.errors import QueryError
from gputide.prometheus.decode import Answer, decode_answer
from gputide.prometheus.failures import RefusedError
from gputide.prometheus.range_read import RangeRead
from gputide.prometheus.stitch import MAX_POINTS, Grid


class Server:
    """Answers one series whose value is its minute; refuses more points than it wants to give."""

    def __init__(self, most_points: int) -> None:
        self.most_points = most_points
        self.asked: list[int] = []

    async def answer(self, start: int, end: int) -> Answer:
        points = (end - start) // 60 + 1
        self.asked.append(points)
        if points > self.most_points:
            raise RefusedError("server", "too many samples", is_too_large=True)
        values = [[at, str(at // 60)] for at in range(start, end + 1, 60)]
        data = {"resultType": "matrix", "result": [{"metric": {}, "values": values}]}
        return decode_answer(json.dumps({"status": "success", "data": data}).encode())


def read(server: Server, columns: int) -> RangeRead:
    grid = Grid(start_seconds=0, step_seconds=60, columns=columns)
    return RangeRead("load", grid, server.answer)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_a_long_range_is_cut_below_the_limit_of_points(concurrency: int) -> None:
    server = Server(most_points=MAX_POINTS)
    found = await read(server, 25_000).run(concurrency=concurrency)

    assert len(server.asked) == 3
    np.testing.assert_array_equal(found.series[0].values, np.arange(25_000))


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_pieces_shrink_until_the_server_gives_them(concurrency: int) -> None:
    server = Server(most_points=700)
    found = await read(server, 12_000).run(concurrency=concurrency)

    np.testing.assert_array_equal(found.series[0].values, np.arange(12_000))
    assert sum(points > 700 for points in server.asked) <= 4 * concurrency  # learned once for all


async def test_a_single_point_that_is_too_large_is_an_error() -> None:
    with pytest.raises(RefusedError, match="too many samples"):
        await read(Server(most_points=0), 100).run(concurrency=2)


async def test_the_error_of_one_piece_is_raised_plainly() -> None:
    async def fail(start: int, end: int) -> Answer:
        raise QueryError("server", f"no answer for {start} to {end}")

    grid = Grid(start_seconds=0, step_seconds=60, columns=2)
    with pytest.raises(QueryError, match="no answer for 0 to 60"):
        await RangeRead("load", grid, fail).run(concurrency=4)
