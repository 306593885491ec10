"""Make what the pages show: ``python -m docs``, about two minutes; ``--fill``, a few seconds.

`numbers.json` keeps, for every method, the test rows that it gets wrong in each draw, and
`verdict.json` what `semisquares compare` says of the example table. Pictures of the methods are
drawn from the first; those of the theory pages compute what they show. Then, and with ``--fill``
only this, what stands between marks is made anew from the stores.
"""

from __future__ import annotations

import argparse
import json
import sys

from .example import DRAWS, count_errors
from .marks import fill_pages
from .measured import REGISTRY
from .pages import METHOD_PAGES, NUMBERS, inputs_of
from .pictures import PICTURES, draw_picture, pack
from .theory_pages import write_pictures
from .verdict import compare_example


def main() -> None:
    """Measure, draw and fill, or only fill."""
    parser = argparse.ArgumentParser(prog="python -m docs", description=__doc__)
    parser.add_argument("--fill", action="store_true", help="only put stored numbers into pages")
    if not parser.parse_args().fill:
        for name, size in write_pictures().items():
            sys.stdout.write(f"{name}.png: {size:,} bytes\n")
        make_methods()
        compare_example()
    for name in fill_pages(REGISTRY):
        sys.stdout.write(f"{name}: filled\n")


def make_methods() -> None:
    """Count errors in all draws, then write numbers and pictures."""
    counts = [count_errors(number) for number in range(DRAWS)]
    numbers = {key: [count[key] for count in counts] for key in counts[0]}
    lines = ",\n".join(f'"{key}": {json.dumps(found)}' for key, found in numbers.items())
    NUMBERS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    for name in PICTURES:
        picture = pack(draw_picture(name), inputs_of(name, numbers))
        (METHOD_PAGES / "pictures" / f"{name}.png").write_bytes(picture)
        sys.stdout.write(f"{name}.png: {len(picture):,} bytes\n")


if __name__ == "__main__":
    main()
