"""Make the pictures of the method pages, and the numbers of their table: ``python -m docs``.

Takes about a minute. `numbers.json` keeps, for every method, the test rows that it gets wrong in
each draw; the table in `index.md` is made from it, and so is what each picture says that it shows.
"""

from __future__ import annotations

import json
import sys

from .example import DRAWS, count_errors
from .pages import METHOD_PAGES, NUMBERS, inputs_of, table, with_table
from .pictures import PICTURES, draw_picture, pack


def main() -> None:
    """Count errors in all draws, then write numbers, table and pictures."""
    counts = [count_errors(number) for number in range(DRAWS)]
    numbers = {key: [count[key] for count in counts] for key in counts[0]}
    lines = ",\n".join(f'"{key}": {json.dumps(found)}' for key, found in numbers.items())
    NUMBERS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    index = METHOD_PAGES / "index.md"
    text = with_table(index.read_text(encoding="utf-8"), table(numbers))
    index.write_text(text, encoding="utf-8")
    for name in PICTURES:
        picture = pack(draw_picture(name), inputs_of(name, numbers))
        (METHOD_PAGES / "pictures" / f"{name}.png").write_bytes(picture)
        sys.stdout.write(f"{name}.png: {len(picture):,} bytes\n")


if __name__ == "__main__":
    main()
