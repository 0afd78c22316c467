"""The report's page in a real browser, from the disk, offline."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from fakes.browser import Opened, chromium, opened
from fakes.trace_reports import refusing_report, trace_report
from gputide.backtest.report import page

HOSTILE = "</script><img src=x onerror=\"document.title='pwned'\">"

COLORS = """chart => {
  const canvas = document.querySelector(chart + ' canvas');
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const near = (at, [r, g, b]) => Math.abs(data[at] - r) + Math.abs(data[at + 1] - g)
    + Math.abs(data[at + 2] - b) < 40 && data[at + 3] > 200;
  const [blue, green] = [[31, 111, 235], [18, 135, 59]];
  const found = {blue: 0, green: 0};
  for (let at = 0; at < data.length; at += 4) {
    if (near(at, blue)) found.blue += 1;
    if (near(at, green)) found.green += 1;
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("pages")
    (found / "one.html").write_text(page.render([trace_report()]))
    reports = [trace_report(HOSTILE), refusing_report(), trace_report("long", days=30)]
    (found / "many.html").write_text(page.render(reports))
    (found / "zh.html").write_text(page.render([trace_report()], "zh"))
    return found


@pytest.fixture
def one(browser: Browser, folder: Path) -> Iterator[Opened]:
    with opened(browser, folder / "one.html") as found:
        found.draw_all()
        yield found


def test_both_observer_charts_are_drawn_blue_and_green(one: Opened) -> None:
    titles = one.page.locator(".chart-title").all_inner_texts()

    assert titles[:2] == ["Predict GPU Resource Observer", "Predict POD Observer"]
    for chart in ("#chart-1", "#chart-2"):
        drawn = one.page.evaluate(COLORS, chart)
        assert drawn["blue"] > 500, (chart, drawn)
        assert drawn["green"] > 500, (chart, drawn)


def test_the_curves_of_cost_against_harm_are_drawn(one: Opened) -> None:
    for chart in ("#chart-3", "#chart-4"):
        assert one.page.evaluate(COLORS, chart)["green"] > 100
        assert one.page.locator(f"{chart} .key").count() == 10, "one is unknown throughout"


@pytest.mark.parametrize(
    ("name", "width"), [("one", 360), ("many", 360), ("many", 1280), ("one", 3840), ("zh", 1280)]
)
def test_a_page_opens_offline_without_a_complaint_a_request_or_sideways_scrolling(
    browser: Browser, folder: Path, name: str, width: int
) -> None:
    with opened(browser, folder / f"{name}.html", width=width, is_dark=width == 1280) as found:
        found.draw_all()

        assert found.complaints == []
        assert found.requests == [(folder / f"{name}.html").as_uri()]
        assert found.page.evaluate("document.documentElement.scrollWidth") == width


def test_a_hostile_trace_name_stays_text(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "many.html") as found:
        found.draw_all()

        assert found.page.title() == "What would prediction have saved?"
        assert found.page.locator("img").count() == 0
        assert found.page.locator("h2").all_inner_texts()[1] == HOSTILE
        assert found.page.locator("td a, th a").first.inner_text() == HOSTILE


def test_the_policy_stops_a_script_that_got_in_anyway(browser: Browser, folder: Path) -> None:
    text = (folder / "one.html").read_text()
    broken = folder / "broken.html"
    injected = "<script>document.title='pwned'</script><b onclick=\"document.title='pwned'\">b</b>"
    broken.write_text(text.replace("<main", f"{injected}<main", 1))

    with opened(browser, broken) as found:
        found.page.locator("b", has_text="b").first.click()

        assert found.page.title() == "What would prediction have saved?"
        assert any("Content Security Policy" in complaint for complaint in found.complaints)


def test_the_cursor_shows_the_values_of_its_moment_in_both_charts(one: Opened) -> None:
    one.page.locator("#chart-1 .u-over").hover(position={"x": 300, "y": 100})

    tips = one.page.locator(".tip:not([hidden])").all_inner_texts()
    assert len(tips) == 2
    assert "GPUs" in tips[0]
    assert "pods" in tips[1]
    assert tips[0].splitlines()[0] == tips[1].splitlines()[0], "one moment"


def test_dragging_zooms_both_charts_and_show_all_undoes_it(one: Opened) -> None:
    plot = one.page.locator("#chart-1 .u-over")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    one.page.mouse.move(box["x"] + 200, box["y"] + 50)
    one.page.mouse.down()
    one.page.mouse.move(box["x"] + 400, box["y"] + 60, steps=4)
    one.page.mouse.up()
    for chart in ("#chart-1", "#chart-2"):
        one.page.locator(f"{chart} .reset:enabled").wait_for()

    one.page.locator("#chart-2 .reset").click()

    for chart in ("#chart-1", "#chart-2"):
        one.page.locator(f"{chart} .reset:disabled").wait_for()


def test_the_keyboard_walks_reads_aloud_and_zooms(one: Opened) -> None:
    one.page.locator("#chart-1 .stage").focus()
    one.page.keyboard.press("Home")
    one.page.keyboard.press("ArrowRight")
    said = one.page.locator("#chart-1 .said").inner_text()
    assert "actual: " in said
    assert "predicted: " in said

    one.page.keyboard.press("+")
    one.page.locator("#chart-1 .reset:enabled").wait_for()
    one.page.keyboard.press("0")
    one.page.locator("#chart-1 .reset:disabled").wait_for()


def test_the_points_of_the_curves_can_be_walked_with_their_knobs(one: Opened) -> None:
    one.page.locator("#chart-3 .stage").focus()
    one.page.keyboard.press("ArrowRight")

    said = one.page.locator("#chart-3 .said").inner_text()
    assert said.startswith("Fixed size. Replica-hours: ")
    assert "replicas 64" in said


def test_a_chart_is_also_a_table_and_a_file(one: Opened) -> None:
    one.page.locator("#chart-1 summary").click()
    rows = one.page.locator("#chart-1 tbody tr")
    rows.first.wait_for()
    assert rows.count() == 48
    assert any("unknown" in row for row in rows.all_inner_texts()), "the gap is named"

    with one.page.expect_download() as download:
        one.page.locator("#chart-1 .save").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == '"Time","actual","predicted"'
    assert len(lines) == 1 + 3 * 1440
    assert lines[1 + 31 * 60].split(",")[1] == '""', "unknown is empty, not 0"


def test_a_line_can_be_switched_on(one: Opened) -> None:
    key = one.page.locator("#chart-2 .key", has_text="HPA, tuned target")
    assert key.get_attribute("aria-pressed") == "false"

    key.click()

    assert key.get_attribute("aria-pressed") == "true"


def test_the_theme_follows_the_system_until_it_is_chosen(browser: Browser, folder: Path) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    with opened(browser, folder / "one.html", is_dark=True) as found:
        assert found.page.evaluate(background) == "rgb(15, 20, 26)"
        found.page.locator("#theme").click()
        assert found.page.evaluate(background) == "rgb(255, 255, 255)"


def test_paper_is_light_whatever_the_screen_is(browser: Browser, folder: Path) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    with opened(browser, folder / "one.html", is_dark=True) as found:
        found.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert found.page.evaluate(background) == "rgb(255, 255, 255)"
        found.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert found.page.evaluate(background) == "rgb(15, 20, 26)"


def test_gaps_reach_the_browser_as_null(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "one.html") as found:
        text = found.page.locator("#chart-1-data").text_content()

    values = json.loads(text or "")["lines"][0]["values"]
    assert values[30 * 60 : 32 * 60] == [None] * 120
    assert None not in values[: 30 * 60]
