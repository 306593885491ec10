"""Make the generated parts of the pages: ``python -m docs`` (ten minutes), ``--fill`` (seconds).

`numbers.json` stores how many test rows each method misclassifies in each draw, and `verdict.json`
the answers of `semisquares compare` on the example table. `first_labels.json` and the pictures of
the guide come from a walk through a page of the guide (`docs.labeling_walk`), which is left out if
there is no Playwright or no Chromium. The pictures of the methods show numbers
of the first; those of the theory pages compute what they show. Finally, and with ``--fill`` only
this, the text between marks is filled in from the stored files.
"""

from __future__ import annotations

import argparse
import json
import sys

from .example import DRAWS, count_errors
from .first_labels import write_picture
from .labeling_walk import can_walk, walk
from .marks import fill_pages
from .measured import REGISTRY
from .pages import METHOD_PAGES, NUMBERS, inputs_of
from .pictures import PICTURES, draw_picture, pack
from .theory_pages import write_pictures
from .verdict import compare_example


def main() -> None:
    """Measure, draw and fill in, or only fill in."""
    parser = argparse.ArgumentParser(prog="python -m docs", description=__doc__)
    parser.add_argument("--fill", action="store_true", help="only put stored numbers into pages")
    if not parser.parse_args().fill:
        for name, size in write_pictures().items():
            sys.stdout.write(f"{name}.png: {size:,} bytes\n")
        make_methods()
        compare_example()
        if can_walk():
            walk()
        else:
            sys.stdout.write("first_labels.json: kept, no Playwright or no Chromium\n")
        write_picture()
    for name in fill_pages(REGISTRY):
        sys.stdout.write(f"{name}: filled\n")


def make_methods() -> None:
    """Count the errors in all draws, then write the numbers and the pictures."""
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
