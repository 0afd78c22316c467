"""A real browser on a page from the disk, offline; it notes all that goes wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Opened:
    """A page, what it complained of, and what it asked for beside itself."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def draw_all(self) -> None:
        """Draw the charts that are not near yet, as printing does, and wait until they are."""
        self.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.page.wait_for_function(
            "[...document.querySelectorAll('.plot')].every(p => p.querySelector('canvas'))"
        )
        self.page.evaluate("dispatchEvent(new Event('afterprint'))")
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Return Debian's Chromium, headless."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, path: Path, *, width: int = 1280, is_dark: bool = False
) -> Iterator[Opened]:
    """Return the page at a path, opened as a person would who has no network."""
    context = browser.new_context(
        viewport=ViewportSize(width=width, height=900),
        color_scheme="dark" if is_dark else "light",
        offline=True,
    )
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.complaints.append(message.text))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.goto(path.as_uri())
    yield found
    context.close()
