"""Parse an HTML page, and measure it in a browser."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from support.command_line import PATIENCE

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
VOID = {"br", "hr", "img", "link", "meta", "wbr"}
NARROW, WIDE = 390, 1280
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-sync", "--disable-background-networking", "--disable-component-update"),
    *("--disable-dev-shm-usage", "--enable-logging=stderr", "--dump-dom"),
    "--virtual-time-budget=10000",
)
LISTENER = """<!doctype html><meta charset="utf-8"><title>windows</title>
<script>addEventListener("message", e => {
  const pre = document.createElement("pre");
  pre.textContent = e.data;
  document.body.append(pre);
});</script>
"""

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


class Sound(HTMLParser):
    """Parse a page, and fail if its tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open += [tag] * (tag not in VOID)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        self.words += data.split() * (self.open[-1:] != ["style"])

    def values(self, attribute, *tags):
        return [
            attrs[attribute]
            for tag, attrs in self.tags
            if attribute in attrs and (tag in tags or not tags)
        ]

    @property
    def text(self):
        return " ".join(self.words)


def contrast(one, other):
    """The contrast ratio of the Web Content Accessibility Guidelines."""

    def luminance(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def measure_pages(place, pages, script, windows):
    """Open pages in Chromium, with all details open, and return what a script measured.

    `pages` has the HTML by name. `windows` lists the name of a page and the width and height of the
    frame in which it is shown. The script sends its measures as JSON to the parent of its window.
    """
    for name, text in pages.items():
        text = text.replace(
            "default-src 'none';", "default-src 'none'; script-src 'unsafe-inline';"
        )
        text = text.replace("<title>", f"{script}<title>", 1).replace("<details>", "<details open>")
        (place / f"{name}.html").write_text(text, encoding="utf-8")
    frames = "".join(
        f'<iframe src="{name}.html" style="width: {width}px; height: {height}px; border: 0">'
        "</iframe>"
        for name, (width, height) in windows
    )
    (place / "frames.html").write_text(f"{LISTENER}<body>{frames}</body>", encoding="utf-8")
    done = subprocess.run(
        [BROWSER, *SWITCHES, f"--user-data-dir={place / 'profile'}", f"file://{place}/frames.html"],
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    assert b"CONSOLE" not in done.stderr, done.stderr.decode(errors="replace")
    answers = re.findall("<pre>(.*?)</pre>", done.stdout.decode(), re.S)
    return [json.loads(answer.replace("&amp;", "&")) for answer in answers]
