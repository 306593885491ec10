"""Read an HTML page, and show it in a browser."""

import shutil
from html.parser import HTMLParser

import pytest

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


VOID = {"br", "hr", "img", "link", "meta", "wbr"}


NARROW, WIDE = 390, 1280


class Sound(HTMLParser):
    """Reads a page, and complains of tags that do not match."""

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


SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-sync", "--disable-background-networking", "--disable-component-update"),
    *("--disable-dev-shm-usage", "--enable-logging=stderr", "--dump-dom"),
    "--virtual-time-budget=10000",
)


needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
