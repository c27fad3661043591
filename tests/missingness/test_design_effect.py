"""Tests of independence in surveys: Pearson's statistic and what the design makes of it.

The reference values are those of R 4.2.2 with survey 4.1.1 on its table `nhanes`, with
`svydesign(id=~SDMVPSU, strata=~SDMVSTRA, weights=~WTMEC2YR, nest=TRUE, data=nhanes)` and whether
`HI_CHOL` is missing as `miss`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from lacunet.ask.diagnose.at_random_tests import MissingTest, mar_tests, mcar_tests
from lacunet.data.table import Design, EncodedTable, Labels
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.implications import check_implications
from lacunet.missingness.independence import design_effect

# `svychisq(~miss+X, ., statistic="Chisq")` is 0.5088346797, 42.66963260, 237.2883386; each divided
# by n / df times the sum of Var(p_ij - p_i p_j) / (p_i p_j), by the delta method from `vcov` of
# `svymean(~interaction(miss, X), .)`: 1.6689882035, 1.785249601, 1.715554637
STATISTIC_OF = {"Sex": 0.3048761391, "Race": 23.90121391, "Age": 138.3158155}
# With the matrix S of Cov(p_ij - p_i p_j) / sqrt(p_i p_j p_k p_l) from the same `vcov`, and X2 the
# sum of (p_ij - p_i p_j)^2 / (p_i p_j): t <- sum(diag(S)); d <- t^2 / sum(diag(S %*% S));
# `pf(X2 / t, d, d * degf(.), lower=FALSE)`. d is 1, 1.976966748, 2.808691263, `degf(.)` 16
P_VALUE_OF = {"Sex": 0.5884720464, "Race": 0.001631123584, "Age": 2.086869614e-13}
# `svychisq(~miss+X, ., statistic="F")` itself, whose S is that of the cells observed
OBSERVED_P_OF = {"Sex": 0.5894214234, "Race": 0.0009090991264, "Age": 2.489171153e-12}

SURVEY = lc.Network({"Group": ["a", "b"], "Cause": ["a", "b", "c"], "Seen": ["0", "1"]})


def cholesterol_tests(**said: object) -> dict[str, MissingTest]:
    rows = lc.example_data("cholesterol")
    states = rows.select(["Sex", "Age", "Race", "HighCholesterol"])
    network = lc.Network.from_data(states, "Sex, Age, Race -> HighCholesterol")
    used = ["Weight", *said.values()]
    data = lc.Data(states.add_column(0, "Weight", rows["Weight"]), weight="Weight")
    if said:
        data = lc.Data(rows.select([*states.column_names, *used]), weight="Weight", **said)
    return {test.cause: test for test in lc.diagnose(data, network).mcar}


def test_statistics_and_p_values_are_those_of_r() -> None:
    found = cholesterol_tests(strata="Stratum", cluster="Unit")
    statistics = {name: test.rows * test.effect**2 for name, test in found.items()}
    assert statistics == pytest.approx(STATISTIC_OF, rel=1e-8)
    p_values = {name: test.p_value for name, test in found.items()}
    assert p_values == pytest.approx(P_VALUE_OF, rel=1e-7)
    assert p_values["Sex"] == pytest.approx(OBSERVED_P_OF["Sex"], rel=0.002)
    for name, observed in OBSERVED_P_OF.items():  # far from independence it is another matrix
        assert np.log(p_values[name]) == pytest.approx(np.log(observed), rel=0.12)


def test_without_a_design_rows_count_as_many_as_their_weights_are_worth() -> None:
    weights = lc.example_data("cholesterol")["Weight"].to_numpy()
    expected = weights.sum() ** 2 / (weights**2).sum()
    assert [test.rows for test in cholesterol_tests().values()] == pytest.approx([expected] * 3)


def clustered_rows(
    rng: np.random.Generator, alike: float, clusters: int, size: int, strata: int = 5
) -> EncodedTable:
    """Clusters in strata; being missing depends on the group, not on the cause."""
    cluster = np.repeat(np.arange(clusters), size)

    def latent() -> np.ndarray:
        shared = rng.normal(size=clusters)[cluster]
        return np.sqrt(alike) * shared + np.sqrt(1 - alike) * rng.normal(size=len(cluster))

    group = (latent() > 0).astype(np.uint8)
    cause = np.digitize(latent(), [-0.4, 0.6]).astype(np.uint8)
    seen = rng.integers(0, 2, len(cluster)).astype(np.uint8)
    seen[latent() + 0.5 * group > 0.8] = 2
    cause[rng.random(len(cluster)) < 0.1] = 3
    names = tuple(map(str, range(clusters)))
    return EncodedTable(
        {"Group": 2, "Cause": 3, "Seen": 2},
        {"Group": group, "Cause": cause, "Seen": seen},
        rng.lognormal(0, 0.5, len(cluster)),
        design=Design(
            Labels(names[:strata], (cluster % strata).astype(np.int32)),
            Labels(names, cluster.astype(np.int32)),
        ),
    )


def both_tests(table: EncodedTable) -> tuple[MissingTest, MissingTest]:
    rng = np.random.default_rng(0)
    completely = mcar_tests(SURVEY, table, rng)
    always = mar_tests(SURVEY, table, rng, {"Seen": ("Group",), "Cause": ()})
    one, two = (
        next(test for test in tests if (test.missing, test.cause) == ("Seen", "Cause"))
        for tests in (completely, always)
    )
    return one, two


def test_copies_within_clusters_change_nothing() -> None:
    rng = np.random.default_rng(5)
    table = clustered_rows(rng, 0.1, clusters=30, size=10)
    copied = table.take(np.repeat(np.arange(table.rows), 4))
    for one, two in zip(both_tests(table), both_tests(copied), strict=True):
        assert two.rows == pytest.approx(one.rows, rel=1e-9)
        assert two.p_value == pytest.approx(one.p_value, rel=1e-8)


def test_strata_of_the_test_may_be_taken_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    table = clustered_rows(np.random.default_rng(5), 0.1, clusters=30, size=10)
    expected = [test.p_value for test in both_tests(table)]
    monkeypatch.setattr(design_effect, "MAX_UNIT_CELLS", 1)
    assert [test.p_value for test in both_tests(table)] == pytest.approx(expected, rel=1e-9)


def test_replicate_weights_of_a_jackknife_are_its_clusters() -> None:
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        {"Cluster": np.repeat(np.arange(20), 25), "Weight": rng.lognormal(size=500)}
    )
    rows["Cause"] = np.where(rng.random(500) < 0.5, "a", "b")
    lift = rng.normal(size=20)[rows["Cluster"]]
    rows["Seen"] = np.where(rng.normal(size=500) + lift > 0.8, None, "0")
    network = lc.Network({"Cause": ["a", "b"], "Seen": ["0", "1"]})
    (clusters,) = lc.diagnose(lc.Data(rows, weight="Weight", cluster="Cluster"), network).mcar
    names = [f"replicate {left_out}" for left_out in range(20)]
    for left_out, name in enumerate(names):
        rows[name] = rows["Weight"] * np.where(rows["Cluster"] == left_out, 0.0, 20 / 19)
    given = lc.ReplicateWeights(names, factors=[19 / 20] * 20)
    data = lc.Data(rows.drop(columns="Cluster"), weight="Weight", replicate_weights=given)
    (replicates,) = lc.diagnose(data, network).mcar
    assert replicates.p_value == pytest.approx(clusters.p_value, rel=1e-8)
    (plain,) = lc.diagnose(
        lc.Data(rows[["Cause", "Seen", "Weight"]], weight="Weight"), network
    ).mcar
    assert replicates.rows == pytest.approx(clusters.rows, rel=1e-8)
    assert clusters.rows < 0.9 * plain.rows


def test_strata_alone_leave_rows_as_they_are_where_they_tell_nothing() -> None:
    rng = np.random.default_rng(8)
    rows = pd.DataFrame({"Cause": rng.choice(["a", "b"], 4000), "Part": rng.integers(0, 4, 4000)})
    rows["Seen"] = np.where(rng.random(4000) < 0.3, None, "0")
    network = lc.Network({"Cause": ["a", "b"], "Seen": ["0", "1"]})
    (test,) = lc.diagnose(lc.Data(rows, strata="Part"), network).mcar
    # 96 degrees of freedom: the standard error of a design effect of one is .14
    assert test.rows == pytest.approx(4000, rel=0.4)


def test_implications_of_a_graph_are_tested_by_the_design_too() -> None:
    table = clustered_rows(np.random.default_rng(5), 0.1, clusters=30, size=10)
    graph = MissingnessGraph.parse("Group -> R[Seen]; R[Cause]", SURVEY)
    tested = {str(one.implication): one for one in check_implications(graph, table)}
    completely = mcar_tests(SURVEY, table, np.random.default_rng(0))
    expected = {
        (test.cause, test.missing): test.p_value for test in completely if test.missing == "Cause"
    }
    for (cause, missing), p_value in expected.items():
        shown = f" | R[{cause}]=1" if cause == "Seen" else ""
        own = tested[f"{cause} ⊥ R[{missing}]{shown}"]
        assert own.p_value == pytest.approx(p_value, rel=1e-9)
        assert own.how == "F"
    _, always = both_tests(table)
    given = tested["Cause ⊥ R[Seen] | R[Cause]=1"]
    assert given.implication.given == ()
    assert given.p_value == pytest.approx(both_tests(table)[0].p_value, rel=1e-9)
    assert always.given == ("Group",)


@pytest.mark.parametrize("factor", [1e-4, 1500.0])
def test_the_scale_of_weights_means_nothing_to_implications(factor: float) -> None:
    table = clustered_rows(np.random.default_rng(5), 0.1, clusters=30, size=10)
    whole = replace(table, weights=np.ceil(3 * table.row_weights), design=None)
    graph = MissingnessGraph.parse("Group -> R[Seen]; R[Cause]", SURVEY)
    for one in (table, whole):
        other = replace(one, weights=one.row_weights * factor)
        for mine, its in zip(
            check_implications(graph, one), check_implications(graph, other), strict=True
        ):
            assert its.p_value == pytest.approx(mine.p_value, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "size", "strata"), [(100, 20, 5), (30, 60, 10)])
@pytest.mark.parametrize("alike", [0.05, 0.2])
def test_one_of_twenty_is_found_in_clusters_where_nothing_is(
    alike: float, clusters: int, size: int, strata: int
) -> None:
    sets = 400
    drawn = (
        clustered_rows(np.random.default_rng([1, at]), alike, clusters, size, strata)
        for at in range(sets)
    )
    p_values = np.array([[test.p_value for test in both_tests(table)] for table in drawn])
    # the standard error of a share of .05 is .011
    assert np.all(np.abs((p_values < 0.05).mean(axis=0) - 0.05) < 0.033)
