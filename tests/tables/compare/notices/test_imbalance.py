"""Classes with few labels are named."""

from semisquares.tables.compare.notices.imbalance import imbalance
from semisquares.tables.dataset import prepare
from support.partly_labeled import table


def test_a_class_with_few_labels_is_named():
    frame = table(n_labeled=80)
    rare = frame.index[frame["y"].notna()][:3]
    frame.loc[rare, "y"] = "maybe"
    notice = imbalance(prepare(frame, "y").target)
    assert notice.sentence == "Of 80 labels class 'maybe' has 3."
    assert "balanced accuracy" in notice.meaning


def test_a_class_with_a_single_label_is_left_to_the_notice_of_untested_classes():
    frame = table(n_labeled=80)
    frame.loc[frame.index[frame["y"].notna()][0], "y"] = "maybe"
    assert imbalance(prepare(frame, "y").target) is None


def test_few_labels_of_a_class_that_is_not_rare_are_a_matter_of_labels_alone():
    notice = imbalance(prepare(table(n_labeled=14), "y").target)
    assert "balanced accuracy" not in notice.meaning
