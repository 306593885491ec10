"""Pictures embedded in the page."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_PNG_START = b"\x89PNG\r\n\x1a\n"
_PIXELS_PER_INCH = 96  # of CSS
_INCHES = {"pt": 1 / 72, "px": 1 / _PIXELS_PER_INCH, "in": 1.0}
_METRES_PER_INCH = 0.0254


@dataclass(frozen=True)
class Picture:
    """A picture as a data URI, with its size in CSS pixels and the names of its files."""

    uri: str
    width: int
    height: int
    files: tuple[str, ...]


def embed(folder: Path, view: str) -> Picture | None:
    """Return a view's SVG or PNG, whichever is smaller; None if neither exists."""
    paths = [path for kind in ("svg", "png") if (path := folder / f"{view}.{kind}").is_file()]
    if not paths:
        return None
    contents = {path.suffix[1:]: path.read_bytes() for path in paths}
    return packed(contents, tuple(f"{folder.name}/{path.name}" for path in paths))


def packed(contents: Mapping[str, bytes], files: tuple[str, ...] = ()) -> Picture:
    """Return the smaller of a picture's renderings, given as "svg" and "png"."""
    kind, content = min(contents.items(), key=lambda one: len(one[1]))
    width, height = (_svg_inches if kind == "svg" else _png_inches)(content)
    name = "svg+xml" if kind == "svg" else "png"
    return Picture(
        uri=f"data:image/{name};base64,{base64.b64encode(content).decode()}",
        width=round(width * _PIXELS_PER_INCH),
        height=round(height * _PIXELS_PER_INCH),
        files=files,
    )


def _svg_inches(content: bytes) -> tuple[float, float]:
    start = content.partition(b"<svg")[2].partition(b">")[0].decode(errors="replace")
    found = dict(re.findall(r'\b(width|height)="([\d.]+(?:pt|px|in)?)"', start))
    return _inches(found.get("width", "680px")), _inches(found.get("height", "510px"))


def _inches(length: str) -> float:
    unit = length.lstrip("0123456789.") or "px"
    return float(length.removesuffix(unit)) * _INCHES[unit]


def _png_inches(content: bytes) -> tuple[float, float]:
    """Read the size of a PNG from its first chunks: pixels, and pixels per metre if given."""
    width, height, per_metre = 680, 510, _PIXELS_PER_INCH / _METRES_PER_INCH
    place = len(_PNG_START)
    while place + 8 <= len(content):
        size, kind = struct.unpack_from(">I4s", content, place)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", content, place + 8)
        if kind == b"pHYs":
            per_metre = struct.unpack_from(">I", content, place + 8)[0] or per_metre
        if kind == b"IDAT":
            break
        place += size + 12
    scale = 1 / (per_metre * _METRES_PER_INCH)
    return width * scale, height * scale
