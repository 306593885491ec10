"""`tools/hops.py` follows calls into the package as it is."""

from pathlib import Path

import pytest
from tools import hops

from semisquares._utils.errors import UserError
from semisquares.tables._example import TABLE


def test_a_soft_fit_is_followed_from_the_estimator_to_the_solver():
    found = hops.entered(hops.soft())
    assert {Path("estimators/soft.py"), Path("core/solvers/newton.py")} <= set(found)


@pytest.mark.parametrize("name", ["fit", "compare"])
def test_a_command_reads_the_example_table(name, tmp_path):
    run = hops.command(name, tmp_path)
    (tmp_path / TABLE).unlink()  # so that it ends at once
    with pytest.raises(UserError, match=TABLE):
        run()
