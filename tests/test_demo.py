"""The demo prints what it promises."""

import re

from semisquares import demo


def test_the_demo_prints_a_line_with_accuracy_certificate_and_time_for_each_rival(
    capsys, monkeypatch
):
    monkeypatch.setattr(demo, "SPLITS", 2)
    demo.main()
    printed = capsys.readouterr().out
    for rival in ("supervised least squares", "tuned ridge", "soft labels", "hard labels"):
        assert re.search(rf"^{rival}.* 0\.\d{{3}} ± 0\.\d{{3}} .*\d\.\d$", printed, re.MULTILINE)
    assert re.search(r"^soft labels, alpha=1 .* \d\.\de-1[5-6] ", printed, re.MULTILINE)
