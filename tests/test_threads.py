"""How many threads work, and that nothing depends on it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pyarrow
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import lacunet as lc
from lacunet.threads import cores, in_threads, one_blas_thread, working_threads


def test_threads_are_limited_within_and_as_before_afterwards() -> None:
    before = pyarrow.cpu_count()
    with working_threads(before + 1):
        assert pyarrow.cpu_count() == before + 1
    assert pyarrow.cpu_count() == before


def test_blas_takes_one_thread_within_and_as_many_as_before_afterwards() -> None:
    def numbers() -> set[int]:
        return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = numbers()
        with one_blas_thread():
            assert numbers() == {1}
        assert numbers() == before


def test_one_thread_is_the_thread_that_asks() -> None:
    with working_threads(1):
        assert set(in_threads(lambda _: threading.get_ident(), range(3))) == {threading.get_ident()}


def test_outcomes_come_in_the_order_of_items_whoever_is_first() -> None:
    def work(item: int) -> int:
        sleep(0.01 * (item % 3))
        return item

    with working_threads(4):
        assert list(in_threads(work, range(20))) == list(range(20))


def test_work_within_a_thread_is_not_divided_again() -> None:
    def inner(_: int) -> int:
        return threading.get_ident()

    def outer(_: int) -> set[int]:
        return {threading.get_ident(), *in_threads(inner, range(4))}

    with working_threads(3):
        assert all(len(idents) == 1 for idents in in_threads(outer, range(6)))


def test_no_more_is_begun_than_memory_allows_at_once() -> None:
    lock = threading.Lock()
    alive, most = 0, 0

    def work(_: int) -> None:
        nonlocal alive, most
        with lock:
            alive += 1
            most = max(most, alive)
        sleep(0.002)
        with lock:
            alive -= 1

    with working_threads(8):
        list(in_threads(work, range(30), most=2.5))
    assert most <= 2


def test_an_error_comes_out_and_nothing_goes_on_behind_it() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 3:
            raise ValueError("three")
        return item

    def items() -> Iterator[int]:
        yield from range(1_000)

    with working_threads(2), pytest.raises(ValueError, match="three"):
        list(in_threads(work, items()))
    done = len(begun)
    sleep(0.05)
    assert len(begun) == done < 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    with working_threads(2):
        list(in_threads(abs, range(4)))  # now there is a pool
        child = os.fork()
        if child == 0:
            os._exit(0 if list(in_threads(abs, range(4))) == [0, 1, 2, 3] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_cores_are_those_that_the_process_may_use() -> None:
    if hasattr(os, "sched_getaffinity"):
        assert cores() == len(os.sched_getaffinity(0))


def test_the_number_of_threads_changes_no_result(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("A,B\n" + "0,1\n,0\n,1\n1,\n1,1\n0,0\n0,\n" * 500)
    one, all_cores = (lc.learn("A -> B", path, threads=threads) for threads in (1, None))
    assert one.network == all_cores.network


@pytest.mark.parametrize("threads", [0, 1.5, True])
def test_what_is_no_number_of_threads_is_refused(threads: int) -> None:
    with pytest.raises(lc.LacunetError, match="threads"):
        lc.learn("A -> B", {"A": ["0", "1"], "B": ["1", "0"]}, threads=threads)
