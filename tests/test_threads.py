"""How many threads decode rows."""

from pathlib import Path

import pyarrow
import pytest

import lacunet as lc
from lacunet.limits import decoding_threads


def test_threads_are_limited_within_and_as_before_afterwards() -> None:
    before = pyarrow.cpu_count()
    with decoding_threads(before + 1):
        assert pyarrow.cpu_count() == before + 1
    assert pyarrow.cpu_count() == before


def test_the_number_of_threads_changes_no_result(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("A,B\n" + "0,1\n,0\n,1\n1,\n1,1\n0,0\n0,\n" * 500)
    one, all_cores = (lc.learn("A -> B", path, threads=threads) for threads in (1, None))
    assert one.network == all_cores.network


@pytest.mark.parametrize("threads", [0, 1.5, True])
def test_what_is_no_number_of_threads_is_refused(threads: int) -> None:
    with pytest.raises(lc.LacunetError, match="threads"):
        lc.learn("A -> B", {"A": ["0", "1"], "B": ["1", "0"]}, threads=threads)
