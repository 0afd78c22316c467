"""The style sheet and the script of every page: uPlot, and the little around it."""

from functools import cache
from importlib.resources import files

from gputide.errors import GputideError

SCRIPTS = ("plot.js", "lines.js", "scatter.js", "page.js")


class MissingChartsError(GputideError):
    """The browser files that belong into the wheel are not there: an unfinished checkout."""

    def __init__(self, name: str) -> None:
        super().__init__(f"charts: {name} is missing; run `make run`, or `python tools/vendor`")
        self.name = name


@cache
def style() -> str:
    """Return the style sheet of a page."""
    return _read("vendor", "uPlot.min.css") + "\n" + _read("static", "page.css")


@cache
def script() -> str:
    """Return the script of a page, uPlot first, with uPlot's licence above it."""
    licence = _read("vendor", "uPlot.LICENSE").replace("*/", "")
    ours = "\n".join(_read("static", name) for name in SCRIPTS)
    engine = _read("vendor", "uPlot.iife.min.js")
    return f"/*! uPlot\n{licence}*/\n{engine}\n(() => {{\n'use strict';\n{ours}\n}})();\n"


def _read(folder: str, name: str) -> str:
    try:
        return files("gputide.charts").joinpath(folder, name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise MissingChartsError(name) from error
