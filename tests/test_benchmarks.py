"""The tables of the README that have no ratio: their command runs and prints them."""

import re

from benchmarks import breast_cancer


def test_the_breast_cancer_table_has_a_line_with_accuracy_certificate_and_time_for_each_rival(
    capsys, monkeypatch
):
    monkeypatch.setattr(breast_cancer, "SPLITS", 2)
    breast_cancer.main()
    printed = capsys.readouterr().out
    for rival in ("supervised least squares", "tuned ridge", "soft labels", "hard labels"):
        assert re.search(rf"^{rival}.* 0\.\d{{3}} ± 0\.\d{{3}} .*\d\.\d$", printed, re.MULTILINE)
    assert re.search(r"^soft labels, alpha=1 .* \d\.\de-1[5-6] ", printed, re.MULTILINE)
