"""The schedule has a cell for every number that the paper printed."""

from __future__ import annotations

import pytest

from studies.paper.published import published
from studies.paper.schedule import SCHEDULE


@pytest.mark.parametrize("name", ["table-mcar", "table-large", "table-informed"])
def test_every_number_of_the_paper_is_met_by_a_cell_of_ours(name: str) -> None:
    ours = {
        (cell.problem.source.name, setting, cell.problem.rows, cell.learner.name, cell.limit)
        for study in SCHEDULE
        if study.name == name
        for cell in study.cells
        for setting in {cell.problem.setting.name, cell.problem.setting.name.split("-")[0]}
    }
    networks = {network for network, *_ in ours}
    for one in published(name):
        if one.value is not None:
            (network,) = (n for n in networks if n.startswith(one.network))
            limit = 300.0 if one.limit is None else one.limit
            assert (network, one.setting, one.rows, one.method, limit) in ours, one


def test_auto_is_run_within_a_tenth_of_every_limit() -> None:
    cells = [cell for study in SCHEDULE if study.name == "table-large" for cell in study.cells]
    autos = {(c.problem.key, c.limit) for c in cells if c.learner.name == "auto"}
    few = {(key, limit) for key, limit in autos if "rows=100 " in key or "rows=10000 " in key}
    assert few
    for key, limit in few:
        assert limit is not None
        assert limit in (6.0, 30.0, 150.0) or (key, limit / 10) in few


def test_eight_problems_up_to_ten_thousand_rows_four_above_two_at_a_million() -> None:
    for name in ("table-mcar", "table-informed", "figure-alarm", "mnar"):
        problems = {p.key: p for study in SCHEDULE if study.name == name for p in study.problems}
        for rows in {p.rows for p in problems.values()}:
            least = 8 if rows <= 10_000 else 4 if rows <= 100_000 else 2
            assert len({p.repetition for p in problems.values() if p.rows == rows}) >= least
