"""Intervals of surveys: clusters within strata, and replicate weights, beside R's `survey`.

The reference values are those of R 4.2 with survey 4.1: `svydesign`, `svymean` and `svyby` on
`survey_rows()`, and `as.svrepdesign(type="JKn", mse=TRUE)`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lacunet as lc
from lacunet.ask.sensitivity.sensitivity import Sensitivity
from lacunet.counts import folds, observations
from lacunet.learning.pseudo_counts import PseudoCounts

NETWORK = lc.Network({"Smokes": ["0", "1"], "Ill": ["0", "1"]}, {"Ill": ["Smokes"]})
SURVEYED = {"weight": "weight", "strata": "stratum", "cluster": "cluster"}


def survey_rows() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    rows = []
    for stratum in range(10):
        for cluster in range(2 + stratum % 3):
            lift = rng.normal(0, 0.5)
            for _ in range(int(rng.integers(8, 16))):
                smokes = int(rng.random() < 0.3)
                ill = int(rng.random() < 1 / (1 + np.exp(1.2 - 0.8 * smokes - lift)))
                is_shown = rng.random() < 0.85
                weight = round(float(rng.lognormal(8, 0.6)), 3)
                rows.append(
                    (f"s{stratum}", f"c{cluster}", weight, smokes, ill if is_shown else None)
                )
    names = ["stratum", "cluster", "weight", "Smokes", "Ill"]
    return pd.DataFrame(rows, columns=names).astype({"Ill": "Int64"})


def learned(data: object, method: str = "direct-mcar", **options: object) -> lc.Result:
    return lc.learn(NETWORK, data, method, pseudo_counts=0.0, intervals=True, **options)


def errors_of(result: lc.Result) -> np.ndarray:
    return np.array(
        [result.standard_error("Smokes")[1], *result.standard_error("Ill")[:, 1].tolist()]
    )


# "em" is maximum likelihood: the same frequencies where only the child goes missing
@pytest.mark.parametrize("method", ["direct-mcar", "em", "auto"])
def test_clusters_within_strata_are_the_jackknife_of_r(method: str) -> None:
    result = learned(lc.Data(survey_rows(), **SURVEYED), method)
    np.testing.assert_allclose(result.network.cpt("Smokes").table[1], 0.31581099, rtol=1e-7)
    np.testing.assert_allclose(
        result.network.cpt("Ill").table[:, 1], [0.3088593705, 0.2969237097], rtol=1e-4
    )
    np.testing.assert_allclose(
        errors_of(result), [0.02742898973, 0.04567686333, 0.03438275258], rtol=1e-4
    )
    # linearised, as `svymean` does it
    np.testing.assert_allclose(
        errors_of(result), [0.02740367211, 0.04516390941, 0.03440726653], rtol=0.03
    )
    assert result.uncertainty.spread_of["Ill"].degrees == 19
    assert result.uncertainty.recipe == "delete-a-cluster jackknife"


def test_clusters_without_strata_are_those_of_r() -> None:
    rows = survey_rows()
    rows["cluster"] = rows["stratum"] + rows["cluster"]
    result = learned(lc.Data(rows, weight="weight", cluster="cluster"))
    expected = [0.02596209894, 0.04376744610, 0.04291164315]
    np.testing.assert_allclose(errors_of(result), expected, rtol=0.03)
    assert result.uncertainty.spread_of["Ill"].degrees == 28


def replicated(rows: pd.DataFrame) -> lc.Data:
    """The same survey by the replicate weights of its jackknife."""
    names, factors = [], []
    sizes = rows.groupby("stratum")["cluster"].nunique()
    replicates = {}
    for (stratum, cluster), _ in rows.groupby(["stratum", "cluster"]):
        others = sizes[stratum] / (sizes[stratum] - 1)
        is_own = rows["stratum"] == stratum
        multiple = np.where(is_own, np.where(rows["cluster"] == cluster, 0.0, others), 1.0)
        names.append(f"replicate {len(names)}")
        replicates[names[-1]] = rows["weight"] * multiple
        factors.append(1 / others)
    wide = pd.concat([rows, pd.DataFrame(replicates)], axis=1)
    given = lc.ReplicateWeights(names, factors=factors)
    return lc.Data(wide, weight="weight", replicate_weights=given)


def test_replicate_weights_of_a_jackknife_are_its_clusters() -> None:
    rows = survey_rows()
    for method in ("direct-mcar", "direct-mar", "em"):
        result = learned(replicated(rows), method)
        clusters = learned(lc.Data(rows, **SURVEYED), method)
        np.testing.assert_allclose(errors_of(result), errors_of(clusters), rtol=1e-6)
        np.testing.assert_allclose(
            result.query("Ill").interval,
            clusters.query("Ill").interval,
            rtol=1e-6,
        )
        assert result.uncertainty.recipe == "replicate weights"


def test_worst_cases_of_a_survey_have_its_errors() -> None:
    rows = survey_rows()
    # shown in all rows: as in R
    found = lc.worst_case(NETWORK, lc.Data(rows, **SURVEYED), "Smokes")
    np.testing.assert_allclose(found.low, found.high)
    np.testing.assert_allclose([found.low_error, found.high_error], 0.02742898973, rtol=1e-4)
    hidden = lc.worst_case(NETWORK, lc.Data(rows, **SURVEYED), "Ill | Smokes")
    by_weights = lc.worst_case(NETWORK, replicated(rows), "Ill | Smokes")
    np.testing.assert_allclose(hidden.low_error, by_weights.low_error, rtol=1e-6)
    np.testing.assert_allclose(hidden.high_error, by_weights.high_error, rtol=1e-6)
    # bounds that are one point have the interval of t, with 29 - 10 degrees of freedom
    width = np.diff(found.interval())[:, 0]
    np.testing.assert_allclose(width, 2 * 2.0930240544 * found.low_error, rtol=1e-9)
    far = (hidden.low - hidden.interval()[..., 0]) / hidden.low_error  # one-sided
    np.testing.assert_allclose(far, 1.7291328115, rtol=1e-3)


@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_tilts_of_a_survey_have_its_intervals(method: str) -> None:
    rows = survey_rows()

    def tilts(data: object) -> Sensitivity:
        options = {"within": ["Smokes"], "deltas": [0.0, 1.0], "method": method, "pseudo_counts": 0}
        return lc.sensitivity(NETWORK, data, "Ill=1 | Smokes=0", "Ill", **options)

    said = tilts(lc.Data(rows, **SURVEYED))
    # at no tilt the frequency among shown rows: P(Ill | Smokes=0) in R has the error .0457
    # t, with 29 - 10 degrees of freedom
    expected = learned(lc.Data(rows, **SURVEYED)).interval("Ill")[0, 1]
    np.testing.assert_allclose(said.intervals[0], expected, rtol=1e-3)
    assert np.diff(said.intervals[0])[0] == pytest.approx(2 * 2.093 * 0.04567686333, rel=0.03)
    by_weights = tilts(replicated(rows))
    np.testing.assert_allclose(said.answers, by_weights.answers, rtol=1e-5)
    np.testing.assert_allclose(said.intervals, by_weights.intervals, rtol=1e-4)


def test_one_cluster_alone_says_nothing_of_how_clusters_vary() -> None:
    rows = survey_rows().assign(cluster="all")
    for asked in (
        lambda: learned(lc.Data(rows, cluster="cluster")),
        lambda: lc.worst_case(NETWORK, lc.Data(rows, cluster="cluster"), "Ill"),
        lambda: lc.sensitivity(NETWORK, lc.Data(rows, cluster="cluster"), "Ill=1", "Ill"),
        lambda: lc.diagnose(lc.Data(rows, cluster="cluster"), NETWORK),
    ):
        with pytest.raises(lc.LacunetError, match="'all'"):
            asked()
    lc.learn(NETWORK, lc.Data(rows, cluster="cluster"))  # estimates need no clusters


def test_counts_are_rows_in_worst_cases_and_tilts() -> None:
    rows = pd.DataFrame({"Smokes": [0, 0, 1, 1], "Ill": [0, 1, 1, None], "n": [20, 30, 15, 9]})
    long = rows.loc[rows.index.repeat(rows["n"])].drop(columns="n")
    for few, many in zip(
        lc.worst_case(NETWORK, lc.Data(rows, counts="n"), "Ill").interval(),
        lc.worst_case(NETWORK, long, "Ill").interval(),
        strict=True,
    ):
        np.testing.assert_allclose(few, many)
    asked = ("Ill=1", "Ill")
    found = lc.sensitivity(NETWORK, lc.Data(rows, counts="n"), *asked, within=[], deltas=[1.0])
    again = lc.sensitivity(NETWORK, long, *asked, within=[], deltas=[1.0])
    np.testing.assert_allclose(found.answers, again.answers)


@pytest.mark.parametrize("method", ["direct-mcar", "direct-mar", "em", "auto"])
def test_neither_scale_nor_order_nor_the_way_of_reading_matters(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = survey_rows()
    one = learned(lc.Data(rows, **SURVEYED), method)
    mixed = rows.sample(frac=1, random_state=1)
    mixed["weight"] *= 1e-4
    two = learned(lc.Data(mixed, **SURVEYED), method)
    monkeypatch.setattr(observations, "HELD_SHARE", 1e12)
    three = learned(lc.Data(rows, **SURVEYED), method)
    for other in (two, three):
        np.testing.assert_allclose(
            other.network.cpt("Ill").table, one.network.cpt("Ill").table, rtol=1e-8
        )
        np.testing.assert_allclose(other.interval("Ill"), one.interval("Ill"), rtol=1e-6)


def by_strata(frame: pd.DataFrame, rng: int = 0, **more: object) -> lc.Result:
    network = lc.Network({"Smokes": ["0", "1"]})
    return lc.learn(
        network,
        lc.Data(frame, strata="stratum", **more),
        "direct-mcar",
        pseudo_counts=0.0,
        rng=rng,
        intervals=True,
    )


def error_by_strata(frame: pd.DataFrame, **more: object) -> float:
    return float(by_strata(frame, **more).standard_error("Smokes")[1])


def test_strata_alone_take_off_what_lies_between_them() -> None:
    smokes = [0] * 380 + [1] * 20 + [0] * 10 + [1] * 190
    rows = pd.DataFrame({"Smokes": smokes, "stratum": ["a"] * 400 + ["b"] * 200})
    # svymean of R: the sum over strata of (share of the rows)^2 p(1 - p) / (n - 1); without
    # strata .0195. 98 degrees of freedom make its standard error 7%, that of the mean of eight 3%
    expected = np.sqrt(0.05 * 0.95 * (4 / 9 / 399 + 1 / 9 / 199))
    found = np.mean([error_by_strata(rows, rng=seed) for seed in range(8)])
    assert by_strata(rows).uncertainty.spread_of["Smokes"].degrees == 98
    np.testing.assert_allclose(found, expected, rtol=0.06)
    counted = rows.groupby(["Smokes", "stratum"], as_index=False).size()
    assert error_by_strata(counted, counts="size") == pytest.approx(error_by_strata(rows), rel=1e-9)


def test_pairs_of_rows_in_strata_have_the_error_of_their_differences() -> None:
    rng = np.random.default_rng(5)
    stratum = np.repeat(np.arange(40), 2)
    smokes = (rng.random(80) < (stratum + 1) / 42).astype(int)
    rows = pd.DataFrame({"Smokes": smokes, "stratum": stratum})
    result = by_strata(rows)
    # svymean of R with two in each stratum: the sum of squared differences by the rows squared
    expected = np.sqrt(np.square(np.diff(smokes.reshape(40, 2))).sum()) / 80
    assert float(result.standard_error("Smokes")[1]) == pytest.approx(expected, rel=1e-9)
    assert result.uncertainty.spread_of["Smokes"].degrees == 40


def test_many_copies_are_dealt_as_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "MAX_UNITS_ONE_BY_ONE", 20)
    rows = pd.DataFrame({"Smokes": [0, 1, 0, 1], "stratum": list("aabb"), "n": [200, 100, 150, 75]})
    errors = [error_by_strata(rows, counts="n", rng=seed) for seed in range(16)]
    assert len(set(errors)) > 1
    np.testing.assert_allclose(np.mean(errors), np.sqrt(1 / 3 * 2 / 3 / 523), rtol=0.06)


def test_a_stratum_with_one_cluster_is_left_out_whole_and_said() -> None:
    rows = survey_rows()
    rows.loc[rows["stratum"] == "s0", "cluster"] = "c0"
    result = learned(lc.Data(rows, **SURVEYED))
    assert result.uncertainty.spread_of["Ill"].degrees == 18
    assert any("s0" in note and "one cluster" in note for note in result.notes)


def part_of_the_survey() -> pd.DataFrame:
    """Only some rows are asked about; in eight of the clusters none."""
    rows = survey_rows()
    is_outside = rows["cluster"].eq("c0") & rows["stratum"].isin(["s0", "s1", "s2", "s5", "s7"])
    is_outside |= rows["cluster"].isin(["c1", "c2"]) & rows["stratum"].isin(["s1", "s4"])
    rows.loc[is_outside | (rows.index % 3 == 0), "weight"] = 0.0
    return rows


def jackknifed(rows: pd.DataFrame) -> tuple[float, float]:
    """The error of P(Smokes=1) by leaving out each cluster, and linearised, by hand."""
    share = np.average(rows["Smokes"], weights=rows["weight"])
    apart = rows["weight"] * (rows["Smokes"] - share) / rows["weight"].sum()
    by_jackknife = linearised = 0.0
    for _, stratum in rows.groupby("stratum"):
        clusters = stratum["cluster"].unique()
        sums = np.array([apart[stratum.index][stratum["cluster"] == one].sum() for one in clusters])
        number = len(clusters)
        linearised += number / (number - 1) * np.square(sums - sums.mean()).sum()
        for one in clusters:
            weight = rows["weight"].copy()
            weight[stratum.index] *= number / (number - 1)
            weight[stratum.index[stratum["cluster"] == one]] = 0
            moved = np.average(rows["Smokes"], weights=weight) - share
            by_jackknife += (number - 1) / number * moved**2
    return np.sqrt(by_jackknife), np.sqrt(linearised)


@pytest.mark.parametrize("method", ["direct-mcar", "factored-mar", "em"])
def test_clusters_whose_rows_all_weigh_zero_are_of_their_strata(
    method: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = part_of_the_survey()
    exact, linearised = jackknifed(rows)
    dropped = learned(lc.Data(rows[rows["weight"] > 0], **SURVEYED), method)
    path = tmp_path / "rows.parquet"
    rows.to_parquet(path)
    for source, share in ((rows, 4), (rows, 1e12), (path, 1e12)):
        monkeypatch.setattr(observations, "HELD_SHARE", share)
        result = learned(lc.Data(source, **SURVEYED), method)
        error = result.standard_error("Smokes")[1]
        assert error == pytest.approx(exact, rel=1e-5)
        assert error == pytest.approx(linearised, rel=0.03)
        assert error != pytest.approx(dropped.standard_error("Smokes")[1], rel=0.01)
        assert result.uncertainty.spread_of["Smokes"].degrees == 11  # 21 clusters in 10 strata
        assert not any("one cluster" in note for note in result.notes)


def test_clusters_of_weight_zero_count_in_worst_cases_and_for_graphs() -> None:
    rows = part_of_the_survey()
    exact, _ = jackknifed(rows)
    found = lc.worst_case(NETWORK, lc.Data(rows, **SURVEYED), "Smokes")
    np.testing.assert_allclose([found.low_error, found.high_error], exact, rtol=1e-5)
    graph = lc.MissingnessGraph.parse("R[Ill]", NETWORK)
    answer = graph.recover(["Smokes"]).estimate(lc.Data(rows, **SURVEYED), intervals=True)
    assert np.diff(answer.interval[1])[0] == pytest.approx(
        2 * 2.201 * exact, rel=0.05
    )  # t with 11 degrees


def test_rows_of_weight_zero_are_of_their_strata_where_each_is_a_cluster() -> None:
    rng = np.random.default_rng(5)
    stratum = np.repeat(np.arange(60), 2)
    rows = pd.DataFrame({"Smokes": (rng.random(120) < 0.4).astype(int), "stratum": stratum})
    rows = rows.assign(weight=np.tile([0.0, 1.0], 60), cluster=np.arange(120))
    expected, _ = jackknifed(rows)  # two groups of each stratum are its two rows
    assert error_by_strata(rows, weight="weight") == pytest.approx(expected, rel=1e-9)
    counted = rows.assign(n=np.tile([3, 1], 60))  # three of four weigh nothing
    several = pd.concat([counted, *[counted[counted["weight"] == 0]] * 2]).drop(columns="n")
    one, two = (
        error_by_strata(frame, weight="weight", **more)
        for frame, more in ((counted, {"counts": "n"}), (several, {}))
    )
    assert one == pytest.approx(two, rel=1e-9)
    none = rows.assign(n=rows["weight"])  # no row stands for none
    assert error_by_strata(none, weight="weight", counts="n") == pytest.approx(
        error_by_strata(rows[rows["weight"] > 0]), rel=1e-9
    )


def test_explain_says_how_many_fits_the_clusters_take() -> None:
    said = str(lc.explain(NETWORK, lc.Data(survey_rows(), **SURVEYED), "direct-mcar"))
    assert "29" in said


def test_replicate_weights_need_the_weights_that_they_are_replicates_of() -> None:
    given = lc.ReplicateWeights(["weight"], kind="brr")
    with pytest.raises(lc.LacunetError, match="weights"):
        lc.Data(survey_rows(), replicate_weights=given)
    with pytest.raises(lc.LacunetError, match="twice"):
        lc.Data(survey_rows(), weight="weight", replicate_weights=given, cluster="cluster")


def zero_replicate(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(r1=2 * rows["weight"] * (rows["cluster"] == "c0"), r2=0.0)


@pytest.mark.parametrize("method", ["auto", "direct-mcar", "factored-mar", "em"])
def test_a_replicate_without_rows_is_refused_from_every_source(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = zero_replicate(survey_rows())
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    brr = lc.ReplicateWeights(["r1", "r2"], "brr")
    for share in (4, 1e12):  # in memory, streamed
        monkeypatch.setattr(observations, "HELD_SHARE", share)
        for source in (rows, tmp_path / "rows.csv", tmp_path / "rows.parquet"):
            with pytest.raises(lc.LacunetError, match="'r2'"):
                learned(lc.Data(source, weight="weight", replicate_weights=brr), method)


METHODS = ["auto", "direct-mcar", "factored-mcar", "direct-mar", "factored-mar", "em"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pseudo_counts", [0.0, "learn"])
def test_a_replicate_without_rows_that_show_a_cpt_row_gives_numbers(
    method: str, pseudo_counts: float | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = survey_rows()
    is_shown = rows["Ill"].notna().to_numpy()
    no_row_shows = 2 * rows["weight"] * ~is_shown
    none_smokes = 2 * rows["weight"] * (rows["Smokes"] == 0)
    one_row = np.where(np.arange(len(rows)) == 0, 3.0, 0.0)
    rows = rows.assign(r0=2 * rows["weight"], r1=no_row_shows, r2=none_smokes, r3=one_row)
    brr = lc.ReplicateWeights(["r0", "r1", "r2", "r3"], "brr")
    data = lc.Data(rows, weight="weight", replicate_weights=brr)
    found = []
    for share in (4, 1e12):  # in memory, streamed
        monkeypatch.setattr(observations, "HELD_SHARE", share)
        result = lc.learn(NETWORK, data, method, pseudo_counts=pseudo_counts, intervals=True)
        answer = result.query("Ill")
        found.append([*errors_of(result), *np.ravel(result.interval("Ill")), *answer.interval.flat])
    assert np.isfinite(found).all()
    np.testing.assert_allclose(*found, rtol=0, atol=1e-9)


def test_effects_of_graphs_have_intervals_by_clusters() -> None:
    rows = survey_rows()
    graph = lc.MissingnessGraph(NETWORK, {"Ill": ["Smokes"]})
    result = learned(lc.Data(rows, **SURVEYED), "mgraph", missingness=graph)
    expected = learned(lc.Data(rows, **SURVEYED))
    np.testing.assert_allclose(errors_of(result), errors_of(expected), rtol=1e-6)
    assert result.uncertainty.recipe == "delete-a-cluster jackknife"


def test_estimates_and_effects_of_graphs_have_intervals_by_replicate_weights() -> None:
    rows = survey_rows()
    graph = lc.MissingnessGraph(NETWORK, {"Ill": ["Smokes"]})
    verdict = graph.recover("Ill", ["Smokes"])
    by_weights = verdict.estimate(replicated(rows), intervals=True)
    clusters = verdict.estimate(lc.Data(rows, **SURVEYED), intervals=True)
    expected = [0.04567686333, 0.03438275258]  # by R, as above
    for answer in (by_weights, clusters):
        np.testing.assert_allclose(answer.standard_error[:, 1], expected, rtol=1e-4)
    np.testing.assert_allclose(by_weights.interval, clusters.interval, rtol=1e-6)
    effect = graph.effect("Ill", do="Smokes", data=replicated(rows))
    again = graph.effect("Ill", do="Smokes", data=lc.Data(rows, **SURVEYED))
    np.testing.assert_allclose(effect.contrasts[0].difference, again.contrasts[0].difference)
    assert "29" in str(effect)
    assert "29" in str(again)


def test_identified_sets_have_the_errors_of_the_design() -> None:
    rows = survey_rows().drop(columns="Smokes")
    alone = lc.Network({"Ill": ["0", "1"]})
    verdict = lc.MissingnessGraph(alone, {"Ill": ["Ill"]}).recover("Ill")
    found = verdict.identified_set(lc.Data(rows, **SURVEYED))
    given = replicated(rows)
    by_weights = verdict.identified_set(given)
    np.testing.assert_allclose(found.interval(), by_weights.interval(), rtol=1e-6)
    assert found.degrees == by_weights.degrees == 19
    # the lowest value is the share of the rows that show the state, the jackknife's by hand
    weights = given.source[["weight", *given.replicate_weights.names]].to_numpy()
    for state in (0, 1):
        shown = (rows["Ill"] == state).fillna(value=False).to_numpy(dtype=bool)
        whole, *parts = weights[shown].sum(axis=0) / weights.sum(axis=0)
        error = np.sqrt(given.replicate_weights.factors @ (np.array(parts) - whole) ** 2)
        np.testing.assert_allclose(found.low[state], whole, rtol=1e-6)
        np.testing.assert_allclose(found.low_error[state], error, rtol=1e-6)
        np.testing.assert_allclose(found.high_error[1 - state], error, rtol=1e-6)


def test_strata_of_one_row_are_told_of_and_too_many_strata_are_refused() -> None:
    coin = lc.Network({"A": ["a", "b"]})
    rows = {"A": ["a", "b", "b"] * 10, "S": [str(at % 20) for at in range(30)]}
    (note,) = lc.learn(coin, lc.Data(rows, strata="S"), "em", intervals=True).notes
    assert note.startswith("intervals leave out 10 strata with one row whole; 10 degrees of")
    assert not lc.learn(coin, lc.Data(rows, strata="S"), "em").notes
    many = {"A": ["a", "b"] * 2_501, "S": [str(at // 2) for at in range(5_002)]}
    with pytest.raises(lc.LacunetError, match="2,501"):
        lc.learn(coin, lc.Data(many, strata="S"), "em", intervals=True)


def rare_rows() -> pd.DataFrame:
    """A survey of three ages in which no child smokes, and of smokers nobody is 60 or older."""
    rng = np.random.default_rng(23)
    rows = []
    for cluster in range(24):
        for _ in range(20):
            age = int(rng.integers(3))
            smokes = int(age == 1 and rng.random() < 0.4)
            is_ill = rng.random() < 0.1 + 0.2 * smokes
            ill = int(is_ill) if rng.random() < 0.9 - 0.3 * smokes else None
            weight = float(rng.integers(1, 9))
            rows.append((f"s{cluster // 4}", f"c{cluster}", weight, age, smokes, ill))
    frame = pd.DataFrame(rows, columns=["stratum", "cluster", "weight", "Age", "Smokes", "Ill"])
    return frame.astype({"Ill": "Int64"})


RARE = lc.Network(
    {"Age": ["0", "1", "2"], "Smokes": ["0", "1"], "Ill": ["0", "1"]},
    {"Smokes": ["Age"], "Ill": ["Age", "Smokes"]},
)


def weighted_share(rows: pd.DataFrame, column: str) -> float:
    """The share of ones among the rows that show them, by hand."""
    shown = rows[rows[column].notna()]
    return float((shown["weight"] * shown[column]).sum() / shown["weight"].sum())


@pytest.mark.parametrize(
    "method", ["auto", "em", "listwise", "direct-mcar", "direct-mar", "factored-mar"]
)
def test_estimates_of_a_survey_have_no_pseudo_counts_where_rows_show_them(method: str) -> None:
    rows = rare_rows()
    result = lc.learn(RARE, lc.Data(rows, **SURVEYED), method)
    assert result.cpt("Smokes").table[0].tolist() == [1, 0]
    smokers = rows[(rows["Age"] == 1) & (rows["Smokes"] == 1)]
    share = weighted_share(smokers, "Ill")
    assert result.cpt("Ill").table[1, 1, 1] == pytest.approx(share, rel=1e-4)
    # The parent configurations that no row shows have pseudo-counts, and are marked.
    assert isinstance(result.pseudo_counts, PseudoCounts)
    for age in (0, 2):
        assert 0 < result.cpt("Ill").table[age, 1].min() < 1
        assert (result.pseudo_counts["Ill"][age, 1] > 0).all()
    assert result.families["Ill"].unsupported == 2
    assert not result.pseudo_counts["Ill"][:, 0].any()
    assert "survey" in str(result.pseudo_counts)
    assert "design-based" in result.why
    assert "design-based" in result.methods_text()
    assert "survey" in str(lc.explain(RARE, lc.Data(rows, **SURVEYED), method))


def test_rows_without_a_design_keep_their_prior() -> None:
    rows = rare_rows()
    result = lc.learn(RARE, lc.Data(rows.drop(columns=["stratum", "cluster"]), weight="weight"))
    assert result.cpt("Smokes").table[0, 1] > 0
    assert (
        lc.learn(RARE, lc.Data(rows, **SURVEYED), pseudo_counts="learn").cpt("Smokes").table[0, 1]
        > 0
    )
    assert lc.learn(RARE, lc.Data(rows, **SURVEYED), pseudo_counts=1).cpt("Smokes").table[0, 1] > 0


@pytest.mark.parametrize("design", ["strata and clusters", "replicate weights"])
@pytest.mark.parametrize("method", ["direct-mar", "em"])
def test_learn_query_and_sensitivity_without_a_tilt_say_the_same_of_a_survey(
    design: str, method: str
) -> None:
    rows = rare_rows()
    data = lc.Data(rows, **SURVEYED)
    if design == "replicate weights":
        kept = [rows["cluster"] != f"c{k}" for k in range(24)]
        columns = {f"w{k}": rows["weight"] * kept[k] for k in range(24)}
        whole = rows.assign(**columns).drop(columns=["cluster", "stratum"])
        weights = lc.ReplicateWeights([*columns], "jackknife")
        data = lc.Data(whole, weight="weight", replicate_weights=weights)
    smokers = rows[(rows["Age"] == 1) & (rows["Smokes"] == 1)]
    share = weighted_share(smokers, "Ill")
    evidence = {"Age": "1", "Smokes": "1"}
    answer = lc.learn(RARE, data).query("Ill", evidence)["1"]
    tilted = lc.sensitivity(RARE, data, "Ill=1 | Age=1, Smokes=1", "Ill", method=method)
    assert answer == pytest.approx(share, rel=1e-4)
    assert tilted.answers[tilted.deltas.index(0.0)] == pytest.approx(share, rel=1e-4)


def test_completed_tables_of_a_survey_vary_where_its_estimate_is_zero() -> None:
    rows = rare_rows()
    result = lc.learn(RARE, lc.Data(rows, **SURVEYED), "em", intervals=True, missingness="R[Ill]")
    tables = result.impute(rows, draws=3, rng=1)
    assert all(table["Ill"].notna().all() for table in tables)


def test_em_without_a_tilt_says_what_learn_says_of_weighted_rows_without_a_design() -> None:
    rng = np.random.default_rng(0)
    ill = rng.random(60) < 0.3
    rows = {
        "Age": [["young", "old"][code] for code in rng.integers(0, 2, 60)],
        "Ill": [None if rng.random() < 0.3 else ["no", "yes"][int(own)] for own in ill],
        "Weight": rng.lognormal(0, 0.5, 60),
    }
    network = lc.Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    data = lc.Data(rows, weight="Weight")
    found = lc.sensitivity(network, data, "P(Ill=yes)", mechanism="Ill", deltas=0.0, method="em")
    learned = lc.learn(network, data, "em", tolerance=1e-6, max_iterations=5_000)
    assert learned.query("Ill")["yes"] == pytest.approx(float(found.answers[0]), abs=1e-5)
