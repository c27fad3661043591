"""Problems whose results are frozen, so that code can be moved without moving a number.

A problem is a function without arguments that gives named arrays of numbers. ``freeze`` writes the
results of all problems to ``cases/frozen``; ``test_frozen.py`` holds the code to them. Where a
result is meant to change, run

    python tests/frozen.py

which lists every quantity that moved and by how much, and writes the new results.

Only the part "How the library is asked" knows names of the library.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import lacunet as lc
from golden import golden

FOLDER = Path(__file__).parent / "cases" / "frozen"
Quantities = dict[str, Any]

PROBLEMS: dict[str, Callable[[], Quantities]] = {}

CLOSED_FORMS = (
    "listwise",
    "direct-mcar",
    "factored-mcar",
    "direct-mar",
    "factored-mar",
    "informed-direct",
    "informed-factored",
)
# EM runs until nothing moves, so that where it starts does not show.
EM = {"tolerance": 1e-9, "max_iterations": 20_000}


def problem(name: str, function: Callable[[], Quantities]) -> None:
    assert name not in PROBLEMS, name
    PROBLEMS[name] = function


# The data.


@cache
def rows_of(case: str) -> pa.Table:
    """The rows of a golden case, as columns of text with nulls."""
    return pa.table({name: pa.array(cells) for name, cells in golden(case).texts().items()})


@cache
def separator_of(case: str) -> tuple[str, ...]:
    return tuple(golden(case).expected.get("separator") or ())


SCREENING = "Age -> Disease -> Test; Disease -> Symptoms"
CHOLESTEROL = "Sex, Age, Race -> HighCholesterol"


@cache
def screening() -> pa.Table:
    return lc.example_data("screening").slice(0, 4000)


@cache
def dropout() -> pa.Table:
    """Three visits; who leaves does not come back, and leaves by what was last seen."""
    rng = np.random.default_rng(11)
    arm = rng.integers(0, 2, 3000)
    state = (rng.random(3000) < 0.4).astype(int)
    columns = {"Arm": arm, "Y0": state}
    is_here = np.ones(3000, bool)
    for visit in ("Y1", "Y2"):
        is_here &= rng.random(3000) > 0.1 + 0.3 * state
        state = (rng.random(3000) < 0.2 + 0.4 * state + 0.1 * arm).astype(int)
        columns[visit] = np.where(is_here, state, -1)
    return pa.table(
        {
            name: pa.array([None if code < 0 else ["no", "yes"][code] for code in column])
            for name, column in columns.items()
        }
    )


# How the library is asked.


def learned(network: Any, data: Any, method: str, **options: Any) -> lc.Result:
    return lc.learn(network, data, method, **options)


def cpts(result: lc.Result) -> Quantities:
    network = result.network
    return {name: network.cpt(name).table for name in network.variables}


def with_intervals(result: lc.Result) -> Quantities:
    intervals = {f"interval of {name}": result.interval(name) for name in result.network.variables}
    return cpts(result) | intervals


def options_for(method: str, case: str) -> dict[str, Any]:
    if method.startswith("informed"):
        return {"groups": list(separator_of(case))}
    return dict(EM) if method in ("em", "em-bp") else {}


def answer(source: Any, target: Any, evidence: Mapping[str, object] | None = None) -> Any:
    return source.query(target, evidence or {})


def answered_with_interval(source: Any, target: str, evidence: Mapping[str, object]) -> Quantities:
    found = source.query(target, evidence)
    return {"probabilities": np.asarray(found), "interval": found.interval}


def effect_of(source: Any, target: str, do: str) -> Quantities:
    found = source.effect(target, do=do)
    pairs = [contrast.difference for contrast in found.contrasts]
    ratios = [contrast.ratio for contrast in found.contrasts]
    return {
        name: [[part.value, part.low, part.high] for part in parts]
        for name, parts in {"differences": pairs, "ratios": ratios}.items()
    }


# Methods, from rows in memory.


def _methods() -> None:  # noqa: C901
    for case in ("asia-mar", "fire-alarm-mar", "survey-mar-sparse"):
        for method in (*CLOSED_FORMS, "em", "auto"):
            if method.startswith("informed") and not separator_of(case):
                continue

            def plain(case: str = case, method: str = method) -> Quantities:
                network = golden(case).network
                result = learned(network, rows_of(case), method, **options_for(method, case))
                return cpts(result)

            problem(f"{method}, {case}", plain)

    for method in (*CLOSED_FORMS, "em"):

        def sure(method: str = method) -> Quantities:
            case = "fire-alarm-mar"
            options = options_for(method, case)
            result = learned(golden(case).network, rows_of(case), method, intervals=True, **options)
            return with_intervals(result)

        problem(f"{method} with intervals, fire-alarm-mar", sure)

    def large() -> Quantities:
        network, rows = golden("alarm-mar").network, rows_of("alarm-mar")
        return cpts(learned(network, rows, "factored-mar"))

    problem("factored-mar, alarm-mar", large)

    def large_em() -> Quantities:
        network, rows = golden("child-mar").network, rows_of("child-mar")
        return cpts(learned(network, rows, "em", pseudo_counts=1, **EM))

    problem("em under a given prior, child-mar", large_em)

    def loopy() -> Quantities:
        case = "fire-alarm-mar"
        return cpts(learned(golden(case).network, rows_of(case), "em-bp", pseudo_counts=1, **EM))

    problem("em-bp, fire-alarm-mar", loopy)

    def likelihood() -> Quantities:
        case = "asia-mar"
        return cpts(learned(golden(case).network, rows_of(case), "em", pseudo_counts=0, **EM))

    problem("em, maximum likelihood, asia-mar", likelihood)


# Sources: files of text, and rows that do not fit in memory.


def _sources() -> None:
    for method in ("direct-mcar", "factored-mar", "em"):

        def text(method: str = method) -> Quantities:
            case = "fire-alarm-mar"
            with TemporaryDirectory() as folder:
                path = Path(folder) / "rows.csv"
                pyarrow.csv.write_csv(rows_of(case), path)
                options = options_for(method, case)
                result = learned(golden(case).network, path, method, intervals=True, **options)
                return with_intervals(result)

        problem(f"{method} from text, fire-alarm-mar", text)

        def streamed(method: str = method) -> Quantities:
            case = "asia-mar"
            with TemporaryDirectory() as folder:
                path = Path(folder) / "rows.parquet"
                pyarrow.parquet.write_table(rows_of(case), path)
                options = options_for(method, case)
                result = learned(
                    golden(case).network, path, method, intervals=True, memory="1MB", **options
                )
                return with_intervals(result)

        problem(f"{method} within a megabyte, asia-mar", streamed)


# Missingness graphs.

PAIR = "Disease -> R[Disease]; R[Symptoms]"


def _graphs() -> None:
    def formulas() -> Quantities:
        graph = lc.MissingnessGraph.parse(
            "Symptoms, Test -> R[Disease]", SCREENING, data=screening()
        )
        result = learned(SCREENING, screening(), "mgraph", missingness=graph, intervals=True)
        return with_intervals(result)

    problem("mgraph, screening", formulas)

    def by_likelihood() -> Quantities:
        graph = lc.MissingnessGraph.parse("Disease -> R[Disease]", SCREENING, data=screening())
        return cpts(learned(SCREENING, screening(), "em", missingness=graph, pseudo_counts=1, **EM))

    problem("em on a graph that hides by itself, screening", by_likelihood)

    def recovered() -> Quantities:
        graph = lc.MissingnessGraph.parse(
            "Symptoms, Test -> R[Disease]", SCREENING, data=screening()
        )
        verdict = graph.recover(["Disease"], given=["Test"])
        return {"P(Disease | Test)": np.asarray(verdict.estimate(screening()))}

    problem("an answer recovered, screening", recovered)

    def left() -> Quantities:
        edges = "Arm, Y0 -> Y1; Arm, Y1 -> Y2"
        graph = lc.MissingnessGraph.parse(
            "Y0 -> R[Y1]; Y1 -> R[Y2]; R[Y2] <= R[Y1]", edges, data=dropout()
        )
        return cpts(learned(edges, dropout(), "mgraph", missingness=graph))

    problem("mgraph with monotone dropout", left)

    def learned_causes() -> Quantities:
        graph = lc.learn_missingness(lc.example_data("screening"))
        lines = sorted(line.split("#")[0].strip() for line in str(graph).splitlines())
        return {"edges": [line for line in lines if line]}

    problem("mechanisms learned, screening", learned_causes)


# Structures.


def _structures() -> None:
    for case in ("asia-mar", "survey-mar-sparse", "child-mar"):

        def search(case: str = case) -> Quantities:
            network = golden(case).network
            found = lc.learn_structure(lc.Data(rows_of(case), states=network), rng=0)
            edges = sorted(f"{a} -> {b}" for a, b in found.network.edges)
            return {"edges": edges, "CPTs": [found.network.cpt(v).table for v in network.variables]}

        problem(f"structure, {case}", search)

    def known() -> Quantities:
        found = lc.learn_structure(
            screening(), required="Age -> Disease", forbidden="Test -> Age", rng=0
        )
        return {"edges": sorted(f"{a} -> {b}" for a, b in found.network.edges)}

    problem("structure with edges that are known, screening", known)

    def sure() -> Quantities:
        network = golden("asia-mar").network
        found = lc.learn_structure(lc.Data(rows_of("asia-mar"), states=network), strengths=5, rng=0)
        return {
            f"{source} -> {target}": [strength.adjacent, strength.directed]
            for (source, target), strength in sorted(found.strengths.items())
        }

    problem("strengths of edges, asia-mar", sure)


# Surveys.


def survey_data(**design: Any) -> lc.Data:
    return lc.Data(lc.example_data("cholesterol"), missing=["77"], **design)


def _surveys() -> None:
    designs: dict[str, dict[str, str]] = {
        "weights": {"weight": "Weight"},
        "weights and strata": {"weight": "Weight", "strata": "Stratum"},
        "a whole design": {"weight": "Weight", "strata": "Stratum", "cluster": "Unit"},
    }
    for words, design in designs.items():
        for method in ("direct-mcar", "direct-mar", "em"):

            def sure(method: str = method, design: dict[str, str] = design) -> Quantities:
                options = EM if method == "em" else {}
                data = survey_data(**design)
                result = learned(CHOLESTEROL, data, method, intervals=True, **options)
                return {
                    "HighCholesterol": result.network.cpt("HighCholesterol").table,
                    "interval": result.interval("HighCholesterol"),
                    "Age": result.interval("Age"),
                }

            problem(f"{method}, a survey with {words}", sure)

    def counted() -> Quantities:
        rows = lc.Data(lc.example_data("muscatine"), counts="Count")
        result = learned("Obese1 -> Obese2 -> Obese3", rows, "em", intervals=True, **EM)
        return with_intervals(result)

    problem("em with counts of rows, muscatine", counted)


# Answers.


@cache
def screened() -> lc.Result:
    return learned(SCREENING, screening(), "em", pseudo_counts=1, intervals=True, **EM)


def _answers() -> None:  # noqa: C901
    def query() -> Quantities:
        return answered_with_interval(screened(), "Disease", {"Test": "positive"})

    problem("a query with its interval, screening", query)

    def closed_query() -> Quantities:
        result = learned(SCREENING, screening(), "direct-mar", intervals=True)
        return answered_with_interval(result, "Disease", {"Test": "positive"})

    problem("a query of direct-mar with its interval, screening", closed_query)

    def joint() -> Quantities:
        network = golden("child-mar").network
        result = learned(network, rows_of("child-mar"), "factored-mar")
        evidence = {"Age": network.states("Age")[0]}
        return {"joint": np.asarray(answer(result, ["Disease", "LungParench"], evidence))}

    problem("a joint query, child-mar", joint)

    def effect() -> Quantities:
        return effect_of(screened(), "Symptoms", "Disease")

    problem("an effect, screening", effect)

    def rows() -> Quantities:
        frame = screened().predict(screening().slice(0, 300), "Disease")
        return {name: frame.column(name).to_pylist() for name in frame.column_names}

    problem("predictions, screening", rows)

    def likelihood() -> Quantities:
        return {"log-likelihood": [screened().log_likelihood(screening())]}

    problem("log-likelihood, screening", likelihood)

    def draws() -> Quantities:
        tables = screened().impute(screening().slice(0, 300), draws=2, rng=5)
        return {f"draw {k}": table.column("Disease").to_pylist() for k, table in enumerate(tables)}

    problem("imputed draws, screening", draws)

    def tilts() -> Quantities:
        found = lc.sensitivity(
            SCREENING, screening(), "Disease=yes | Test=positive", "Disease",
            deltas=[-1.0, 0.0, 1.0], pseudo_counts=0,
        )  # fmt: skip
        return {"answers": found.answers, "intervals": found.intervals}

    problem("sensitivity, screening", tilts)

    def bounds() -> Quantities:
        found = lc.worst_case(SCREENING, screening(), "Disease | Test")
        return {"low": np.asarray(found.low), "high": np.asarray(found.high)}

    problem("bounds without assumptions, screening", bounds)

    def pooled() -> Quantities:
        found = lc.pool([1.0, 1.3, 0.9, 1.1, 1.4], [0.1, 0.12, 0.09, 0.11, 0.1])
        return {"estimate": found.estimate, "interval": found.interval()}

    problem("estimates pooled", pooled)

    def divergence() -> Quantities:
        truth = lc.example("asia")
        result = learned(golden("asia-mar").network, rows_of("asia-mar"), "factored-mar")
        return {"divergence": [lc.kl_divergence(truth, result.network)]}

    problem("divergence, asia-mar", divergence)

    def simulated() -> Quantities:
        made = lc.simulate(lc.example("asia"), 50, lc.MCAR(0.7, share=0.3), rng=4)
        frame = made.to_frame()
        return {name: [str(cell) for cell in frame[name]] for name in frame.columns}

    problem("rows simulated, asia", simulated)


_methods()
_sources()
_graphs()
_structures()
_surveys()
_answers()


# Writing and comparing.


def as_lists(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list):
        return [as_lists(part) for part in value]
    return value


def result_of(name: str) -> Quantities:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantities = PROBLEMS[name]()
    return {quantity: as_lists(value) for quantity, value in quantities.items()}


def numbers_in(value: Any) -> list[float]:
    """All numbers, in order; whatever else there is counts as it is."""
    if isinstance(value, list):
        return [number for part in value for number in numbers_in(part)]
    return [value]


def largest_difference(frozen: Any, now: Any) -> float:
    """The largest distance between two nested lists, relative to numbers above one."""
    pairs = zip(numbers_in(frozen), numbers_in(now), strict=True)
    differences = [0.0]
    for before, after in pairs:
        if isinstance(before, float | int) and isinstance(after, float | int):
            is_equal = before == after or (np.isnan(before) and np.isnan(after))
            scale = max(1.0, abs(before))
            differences.append(0.0 if is_equal else abs(before - after) / scale)
        else:
            differences.append(0.0 if before == after else float("inf"))
    return max(differences)


def frozen() -> dict[str, Quantities]:
    return {
        name: quantities
        for path in sorted(FOLDER.glob("*.json"))
        for name, quantities in json.loads(path.read_text("utf-8")).items()
    }


def freeze() -> None:
    """Write the results of all problems, and say which moved."""
    before = frozen() if FOLDER.is_dir() else {}
    FOLDER.mkdir(exist_ok=True)
    after = {name: result_of(name) for name in PROBLEMS}
    for name, quantities in after.items():
        for quantity, value in quantities.items():
            if quantity not in before.get(name, {}):
                print(f"new: {name}: {quantity}")
                continue
            try:
                difference = largest_difference(before[name][quantity], value)
            except ValueError:
                print(f"another shape: {name}: {quantity}")
                continue
            if difference > 0:
                print(f"{difference:.1e}: {name}: {quantity}")
    for name in before.keys() - after:
        print(f"gone: {name}")
    blocks = []
    for name, quantities in after.items():
        lines = [f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in quantities.items()]
        blocks.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n  }")
    (FOLDER / "results.json").write_text("{\n" + ",\n".join(blocks) + "\n}\n", "utf-8")


if __name__ == "__main__":
    freeze()
