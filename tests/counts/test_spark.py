"""Rows on Spark are counted where they are, and what is wrong with them is told in words."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet.counts import spark, spark_answers
from lacunet.counts.gather import Gathering, Needs, gather
from lacunet.counts.passes import hash32
from lacunet.counts.spark import _in_words, task_memory
from lacunet.counts.spark_columns import TravellingColumns
from lacunet.data.errors import DataError, UnknownStateError, WeightError
from lacunet.data.read import ReadReport, read_table
from lacunet.data.table import EncodedTable
from sparked import frame_of, session

PAIR = lc.Network({"A.1": ["x", "y"], "B`": ["1", "2"]}, {"B`": ["A.1"]})
ROWS = pa.table(
    {
        "A.1": ["x", "y", None, "x", "?", " y"],
        "B`": [1.0, 2.0, 1.0, None, 1.0, 2.0],
        "weight": [1.0, 2.0, 0.5, 1.0, 1.0, 0.0],
        "other": list("abcdef"),
    }
)

slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("settings", "mebibytes"),
    [
        ({"spark.executor.memory": "20g", "spark.executor.cores": "4"}, 512),
        ({"spark.executor.memory": "1g"}, 384),
        ({"spark.executor.memoryOverhead": "2048", "spark.executor.cores": "2"}, 1024),
        ({"spark.executor.pyspark.memory": "3g", "spark.executor.memoryOverhead": "1g"}, 3072),
        ({"spark.master": "local-cluster[2,1,1024]"}, 384),
    ],
)
def test_a_task_takes_what_its_executor_has_for_python(
    settings: dict[str, str], mebibytes: int
) -> None:
    assert task_memory(settings.get) == mebibytes * 2**20


def test_in_local_mode_the_cores_share_half_of_the_machine() -> None:
    one, two = (task_memory({"spark.master": f"local[{n}]"}.get) for n in (1, 2))
    assert one // 2 == two


def test_what_spark_says_is_told_in_a_sentence() -> None:
    missing = "PythonException: ...\n  ModuleNotFoundError: No module named 'lacunet'\n\n at ..."
    assert "cannot import lacunet" in str(_in_words(missing))
    other = "Job aborted due to stage failure\njava.lang.OutOfMemoryError: Java heap space\n"
    assert "cannot be read: java.lang.OutOfMemoryError: Java heap space." in str(_in_words(other))


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_columns_are_found_by_name_and_matched_like_any_data() -> None:
    frame = frame_of(ROWS)
    found = lc.learn(PAIR, lc.Data(frame, weight="weight"), "factored-mar")
    expected = lc.learn(PAIR, lc.Data(ROWS, weight="weight"), "factored-mar")
    assert (found.rows, found.missing) == (5, {"A.1": 2, "B`": 1})
    assert found.total == pytest.approx(
        5.5**2 / 7.25
    )  # of weights that sum to 5.5, squares to 7.25
    assert set(found.notes) == set(expected.notes)
    np.testing.assert_allclose(found.network.cpt("B`").table, expected.network.cpt("B`").table)


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_values_that_are_not_states_are_counted_over_all_tasks() -> None:
    rows = pa.table({"A.1": ["z", "x", "z", "z", "w"] * 20, "B`": [1, 2, 1, None, 2] * 20})
    with pytest.raises(
        UnknownStateError, match=r"column 'A\.1' holds 'z' \(60 rows\), 'w' \(20 rows\), but"
    ):
        lc.learn(PAIR, frame_of(rows))
    result = lc.learn(PAIR, lc.Data(frame_of(rows), unknown="missing"), "direct-mcar")
    assert result.missing["A.1"] == 80


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_a_diagnosis_is_that_of_the_same_rows_in_memory() -> None:
    assert str(lc.diagnose(frame_of(ROWS), PAIR)) == str(lc.diagnose(ROWS, PAIR))


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_what_spark_cannot_do_is_refused_with_the_way_out() -> None:
    frame = frame_of(ROWS)
    with pytest.raises(WeightError, match="no order"):
        lc.learn(PAIR, lc.Data(frame, weight=np.ones(6)))
    with pytest.raises(WeightError, match=r"the weight in the Spark DataFrame, .* is -1.0"):
        lc.learn(
            PAIR, lc.Data(frame_of(pa.table({"A.1": ["x"], "B`": [1], "w": [-1.0]})), weight="w")
        )
    with pytest.raises(DataError, match="has no rows"):
        lc.learn(PAIR, frame.limit(0))
    with pytest.raises(DataError, match="groups can be named"):
        lc.learn(PAIR, frame, "informed-direct", groups="learn")


@slow
def test_more_than_the_driver_has_room_for_is_refused_where_it_was_found() -> None:
    session()
    rows = {"A.1": ["x", "y"] * 50, "B`": ["1", None] * 50}
    asked = Gathering(Needs(PAIR.families), PAIR)
    answer = (gather(asked, [read_table(rows, PAIR)]), ReadReport())
    size = len(pickle.dumps(answer))
    for room, is_refused in ((2 * size, False), (size / 2, True)):
        pieces = [*spark_answers.sent(3, answer, 100), *spark_answers.sent(1, answer, 100)]
        addition = spark_answers.Addition(spark._added, spark._too_much, room, 100)
        (found,) = spark_answers.received(
            row
            for batch in spark_answers.summed_up(addition, pieces[::-1])
            for row in batch.to_pylist()
        )
        if is_refused:
            assert isinstance(found, DataError)
            assert "factored-mar" in str(found)
        else:
            assert found[0].rows == 200


class _Answers:
    """A data frame of Spark with answers: what is asked of it is noted."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows, self.is_kept, self.merged = rows, False, 0

    def persist(self) -> _Answers:
        self.is_kept = True
        return self

    def unpersist(self) -> None:
        self.is_kept = False

    def selectExpr(self, *words: str) -> _Answers:
        if "sum(length(found))" in words:
            tasks, size = (max(row["task"] for row in self.rows) + 1, self.size)
            return _Answers([{"tasks": tasks, "bytes": size}])
        return self

    def repartition(self, *_: Any) -> _Answers:
        self.merged += 1
        return self

    def drop(self, _name: str) -> _Answers:
        return self

    def mapInArrow(self, step: Any, _schema: str) -> _Answers:
        (answer,) = spark_answers.received(self.rows)  # there is one only
        found = pickle.dumps(answer)
        addition = step.args[0]
        if len(found) > addition.room:
            answer = addition.refuse(len(found), addition.room)
        rows = [row for batch in spark_answers.sent(0, answer) for row in batch.to_pylist()]
        return _Answers(rows)

    def collect(self) -> list[Any]:
        return [_Row(row) for row in self.rows]

    @property
    def size(self) -> int:
        return sum(len(row["found"]) for row in self.rows)


class _Row(dict[str, Any]):
    """A row of Spark: its values in order, and as a dictionary."""

    def __iter__(self) -> Any:
        return iter(self.values())

    def asDict(self) -> dict[str, Any]:
        return dict(self.items())


def test_what_spark_lets_the_driver_collect_is_looked_at_before_it_is_collected() -> None:
    rows = [row for batch in spark_answers.sent(0, b"x" * 5000, 100) for row in batch.to_pylist()]
    answers = _Answers(rows)
    addition = spark_answers.Addition(next, lambda size, _: size, 1e9, 100)
    for limit, expected in (("1g", b"x" * 5000), ("4k", answers.size), ("0", b"x" * 5000)):
        settings = {spark_answers.RESULT_SIZE: limit}
        assert spark_answers.collected(answers, addition, settings.get) == expected
        assert not answers.is_kept


@slow
@pytest.mark.parametrize("tasks", [3, 9, 70])
def test_answers_of_many_tasks_are_added_up_in_a_tree(tasks: int) -> None:
    rows = pa.table({"A.1": ["x", "y", None, "x", "y"] * 60, "B`": [1.0, 2.0, 1.0, None, 1.0] * 60})
    frame = frame_of(rows).repartition(tasks)
    for method in ("factored-mcar", "em"):
        found, expected = (lc.learn(PAIR, data, method) for data in (frame, rows))
        assert found.rows == 300
        np.testing.assert_allclose(
            found.network.cpt("B`").table, expected.network.cpt("B`").table, atol=1e-12
        )


@slow
def test_texts_that_travel_together_come_apart_as_they_were() -> None:
    texts = ["x", None, "", "y ", "\x00", "zß", "?", "NA", " "]
    rows = pa.table({"a": texts, "b": texts[::-1], "n": list(range(9)), "c": texts[3:] + texts[:3]})
    frame = frame_of(rows)
    together = TravellingColumns.of(frame, {0: 2, 1: 3, 2: 9, 3: 4})
    assert (together.groups, together.alone) == (((0, 1, 3),), (2,))
    (batch,) = frame.coalesce(1).selectExpr(*together.expressions).toArrow().to_batches()
    found = together.apart(batch, ["A", "B", "N", "C"])
    assert found.to_pydict() == dict(zip("ABNC", rows.to_pydict().values(), strict=True))


@slow
def test_a_source_is_read_once_whatever_is_asked_of_it() -> None:
    network = lc.Network({"A": ["x", "y"], "B": ["1", "2"]}, {"B": ["A"]})
    rows = pa.table({"A": ["x", "y"] * 30, "B": [1, 2, None] * 20})
    read = session().sparkContext.accumulator(0)

    def watched(batches: Any) -> Any:
        for batch in batches:
            read.add(batch.num_rows)
            yield batch

    frame = frame_of(rows).mapInArrow(watched, "A string, B long")
    for method, options in (("direct-mcar", {}), ("factored-mar", {}), ("em", {"intervals": True})):
        read.value = 0
        lc.learn(network, frame, method, **options)
        assert read.value == 60
    with pytest.raises(UnknownStateError):
        lc.learn(lc.Network({"A": ["x"], "B": ["1", "2"]}, {"B": ["A"]}), frame, "em")
    assert not session().sparkContext._jsc.getPersistentRDDs()


class _Frame:
    """What a data frame of Spark is before anything runs; it cannot be pickled, as that cannot."""

    __module__ = "pyspark.sql.stand_in"
    columns = ("A.1", "B`")
    dtypes = (("A.1", "string"), ("B`", "bigint"))

    def __getattr__(self, name: str) -> Any:
        if name in ("select", "selectExpr", "toDF", "mapInArrow"):
            return lambda *_: self
        if name in ("sparkSession", "conf"):
            return self
        raise AttributeError(name)

    def get(self, _name: str, default: Any = None) -> Any:
        return default

    def __reduce__(self) -> Any:
        raise TypeError("the frame travels")


def test_the_frame_does_not_travel_with_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    def sent(_rows: Any, task: spark.Task, _room: float) -> Any:
        raise EOFError(str(len(pickle.dumps(task))))

    monkeypatch.setattr(spark, "_collected", sent)
    with pytest.raises(EOFError):
        lc.learn(PAIR, _Frame(), "direct-mcar")


@slow
def test_another_version_on_the_executors_is_refused() -> None:
    session()
    (batch,) = spark._called("0.0.0", b"", 2**17, iter([]))
    (found,) = batch.column("found").to_pylist()
    assert "the driver has lacunet 0.0.0, an executor" in str(pickle.loads(found))


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_the_jobs_are_one_for_counts_and_one_more_with_one_shuffle_of_codes_for_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    original = spark._collected

    def watched(rows: object, task: spark.Task, room: float) -> object:
        asked.append("rows" if task.columns else "groups" if task.asked.together else "codes")
        return original(rows, task, room)

    monkeypatch.setattr(spark, "_collected", watched)
    monkeypatch.setattr(spark, "GROUPS_SHARE", 2**60)  # no groups are few
    lc.learn(PAIR, frame_of(ROWS), "factored-mcar")
    assert asked == ["rows"]
    fully = pa.table({"A.1": ["x", "y"] * 30, "B`": [1, 2, None] * 20})
    lc.learn(PAIR, frame_of(fully), "factored-mar")
    assert asked == ["rows", "codes", "groups"]


@slow
def test_rows_counted_on_spark_are_data_again(tmp_path: Path) -> None:
    rows = pa.table({"A.1": ["x", "y", "x"] * 30, "B`": [1, 2, None] * 30, "w": [0.5, 2.0, 1] * 30})
    for weight in (None, "w"):
        counted = lc.count(PAIR, lc.Data(frame_of(rows), weight=weight))
        beside = {"counts": "copies"}
        if weight is not None:
            beside |= {"weight": "w", "squared_weight": "squared weight"}
        on_spark = lc.Data(frame_of(counted), **beside)
        for method in ("direct-mcar", "em"):
            expected = lc.learn(PAIR, lc.Data(rows, weight=weight), method, intervals=True)
            for data in (counted, on_spark):
                found = lc.learn(PAIR, data, method, intervals=True)
                np.testing.assert_allclose(
                    found.network.cpt("B`").table, expected.network.cpt("B`").table, atol=1e-12
                )
                np.testing.assert_allclose(found.interval("B`"), expected.interval("B`"), atol=1e-9)


@slow
@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "connect:local[2]"])
def test_other_kinds_of_sessions_give_the_same(master: str) -> None:
    pytest.importorskip("pyspark", reason="no PySpark: `make test-all` installs it")
    script = f"""
import numpy as np, pyarrow as pa, lacunet as lc
from sparked import frame_of
from lacunet.counts import spark
spark.GROUPS_SHARE = 2**60
network = lc.Network({{"A": ["x", "y"], "B": ["1", "2"]}}, {{"B": ["A"]}})
rows = pa.table({{"A": ["x", "y", "x"] * 30, "B": [1, 2, None] * 30}})
frame = frame_of(rows, {master!r})
for method in ("factored-mar", "em"):
    found, expected = lc.learn(network, frame, method), lc.learn(network, rows, method)
    tables = (found.network.cpt("B").table, expected.network.cpt("B").table)
    np.testing.assert_allclose(*tables, rtol=0, atol=1e-12)
print("the same")
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "the same" in done.stdout, done.stderr[-3000:]


def test_rows_with_sets_of_states_have_a_place_after_a_shuffle() -> None:
    codes = {"A": np.array([0, 2, 3, 3, 4], np.uint8), "B": np.array([0, 1, 1, 1, 2], np.uint8)}
    table = EncodedTable({"A": 2, "B": 2}, codes, sets_of={"A": ((0,), (1,))})
    found = hash32(table, ("A", "B"), 1)
    assert found[2] == found[3]
    assert len(set(found.tolist())) == 4
    plain = EncodedTable({"A": 2, "B": 2}, {"A": codes["A"][:2], "B": codes["B"][:2]})
    assert hash32(plain, ("A", "B"), 1).tolist() == found[:2].tolist()


TEMPLATE = "Z -> H[t]; H[t-1] -> H[t] -> S[t]"


def panel_rows() -> pa.Table:
    """Units in waves, of which some are missing; Z is the same in all waves of a unit."""
    rng = np.random.default_rng(3)
    rows: dict[str, list[Any]] = {name: [] for name in ("who", "wave", "Z", "H", "S")}
    for who in range(80):
        group = rng.choice(["f", "m"])
        for wave in range(4):
            if rng.random() < 0.2:
                continue
            cells = [rng.choice(list(letters)) for letters in ("ab", "ny")]
            shown = [cell if rng.random() < 0.8 else None for cell in cells]
            group_shown = group if rng.random() < 0.9 else None
            for name, cell in zip(rows, (who, wave, group_shown, *shown), strict=True):
                rows[name].append(cell)
    return pa.table(rows)


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize("method", ["em", "direct-mcar", "factored-mar"])
@pytest.mark.parametrize("shapes", [{}, {"H": "logistic", "S": lc.NoisyOr({"S": "n", "H": "a"})}])
def test_panels_ties_and_shapes_are_learned_as_in_memory(method: str, shapes: Any) -> None:
    rows = panel_rows()
    here = lc.Data(rows, unit="who", time="wave")
    there = lc.Data(frame_of(rows), unit="who", time="wave")
    network = lc.Network.from_data(here, TEMPLATE)
    ours, theirs = (
        lc.learn(network, data, method, shapes=shapes, intervals=True) for data in (there, here)
    )
    assert ours.rows == theirs.rows == 80
    assert ours.missing == theirs.missing
    for name in network.variables:
        np.testing.assert_allclose(ours.cpt(name).table, theirs.cpt(name).table, atol=1e-12)
        np.testing.assert_allclose(ours.interval(name), theirs.interval(name), atol=1e-9)


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_a_wide_panel_on_spark_is_that_in_memory() -> None:
    rng = np.random.default_rng(4)
    cells = {
        f"h{t}": [None if rng.random() < 0.2 else c for c in rng.choice(["a", "b"], 60)]
        for t in range(3)
    }
    rows = pa.table(cells)
    waves = {"H": [*cells, None]}
    here, there = (lc.Data(source, waves=waves) for source in (rows, frame_of(rows)))
    network = lc.Network.from_data(here, "H[t-1] -> H[t]")
    ours, theirs = (lc.learn(network, data, "em") for data in (there, here))
    np.testing.assert_allclose(ours.cpt("H[3]").table, theirs.cpt("H[3]").table, atol=1e-12)


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(1, "one", "a", "f")], "'one'"),
        ([(1, "1.5", "a", "f")], "'1.5'"),
        ([(1, "1", "a", "f"), (1, "1", "b", "f")], "unit '1' is in wave 1 twice"),
        ([(None, "1", "a", "f")], "'who' is empty"),
        ([(1, "1", "a", "f"), (1, "2", "b", "m")], "'Z' of unit '1'"),
    ],
)
def test_what_is_wrong_with_a_panel_on_spark_is_named(rows: list[Any], words: str) -> None:
    states = {"Z": ["f", "m"], "H[1]": ["a", "b"], "H[2]": ["a", "b"]}
    network = lc.Network(states, {"H[2]": ["H[1]"]})
    frame = session().createDataFrame(rows, schema="who int, wave string, H string, Z string")
    with pytest.raises(DataError, match=words):
        lc.learn(network, lc.Data(frame, unit="who", time="wave"))


@slow
@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_codes_of_what_is_the_same_in_all_waves_do_not_contradict_it_on_spark() -> None:
    rows = [
        (1, 1, "a", "f"),
        (1, 2, "b", "NA"),
        (2, 1, "a", "M"),
        (2, 2, "a", "m"),
        (2, 3, "b", "9"),
    ]
    frame = session().createDataFrame(rows, schema="who int, wave int, H string, Z string")
    table = pa.table({name: [row[k] for row in rows] for k, name in enumerate(frame.columns)})
    options: Any = {"codes": {"Z": {"M": "m"}}, "missing": {"Z": ["9"]}}
    here, there = (lc.Data(d, unit="who", time="wave", **options) for d in (table, frame))
    network = lc.Network.from_data(here, "Z -> H[t]; H[t-1] -> H[t]")
    ours, theirs = (lc.learn(network, data, "em") for data in (there, here))
    assert ours.missing == theirs.missing
    np.testing.assert_allclose(ours.cpt("Z").table, theirs.cpt("Z").table, atol=1e-12)
