"""How often 95% intervals cover the truth: data drawn anew, learned, and looked up.

Entries count whose CPT row has at least 30 rows that show the family with these parents'
states. Prints, for each problem and method, data sets, mean coverage over the entries, the
share of entries whose own coverage is between 92% and 98%, and the cost against the fit:

    python benchmarks/coverage.py [--sets 200] [--only survey alarm mnar]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter

import numpy as np

import lacunet as lc
import mnar_consistency as five
from lacunet.data.table import EncodedTable
from lacunet.estimate.em.uncertain import em_uncertainty
from lacunet.estimate.intervals import direct_spreads
from lacunet.inference.engine import engine_of
from lacunet.missingness.augmented import augmented
from lacunet.missingness.fitted import learned_separator
from lacunet.missingness.graph import MissingnessGraph
from lacunet.model.network import Network
from lacunet.simulation.at_random import MAR
from lacunet.simulation.hiding import hide_cells
from lacunet.simulation.sampling import sample
from lacunet.statistics.count import count
from lacunet.statistics.groups import count_in_groups, group_rows
from lacunet.statistics.problems.compile import compile_problems
from lacunet.uncertainty.influence import direct_mar_spread, direct_mcar_spread
from lacunet.uncertainty.jackknife import jackknife
from lacunet.uncertainty.spread import Spread
from mnar_em import em_on

Sure = Callable[[Network, EncodedTable], tuple[Mapping[str, Spread], float, float]]
TO_THE_END = lc.EM(tolerance=1e-6, max_iterations=5000)


def timed(work: Callable[[], object]) -> tuple[object, float]:
    began = perf_counter()
    return work(), perf_counter() - began


def influence(prior: float, separator: tuple[str, ...] | None = None) -> Sure:
    def spreads(network: Network, table: EncodedTable) -> dict[str, Spread]:
        counted = count(table, [network.family(name) for name in network.variables])
        observed = table.fully_observed
        grouped, found = {}, {}
        for name in network.variables:
            family, cpt = network.family(name), network.cpt(name).table
            hidden = tuple(one for one in family if table.missing_of[one])
            by = observed
            if separator is not None:
                by = tuple(one for one in observed if one in family or one in separator)
            if by not in grouped:
                grouped[by] = group_rows(table, by)
            found[name] = (
                direct_mar_spread(
                    count_in_groups(table, *grouped[by], hidden, whole=True), counted[family], cpt
                )
                if hidden
                else direct_mcar_spread(counted[family], cpt)
            )
        return found

    def sure(bare: Network, table: EncodedTable) -> tuple[Mapping[str, Spread], float, float]:
        informed = {} if separator is None else {"separator": separator}
        method = "informed-direct" if informed else "direct-mar"
        learned, fit = timed(lambda: lc.learn(bare, table, method, prior, **informed))
        found, cost = timed(lambda: spreads(learned.network, table))
        return found, fit, cost

    return sure


def learned_separators(
    bare: Network, table: EncodedTable
) -> tuple[dict[str, Spread], float, float]:
    """Informed deletion, each family within groups by its own learned separator; no prior."""
    own, fit = timed(lambda: learned_separator(bare, table))
    given_of = {
        name: tuple(v for v in table.fully_observed if v in bare.family(name) or v in own[name])
        for name in bare.variables
    }
    shapes = {name: bare.shape(bare.family(name)) for name in bare.variables}
    any_cpts = {name: np.full(shape, 1 / shape[-1]) for name, shape in shapes.items()}
    found, cost = timed(lambda: direct_spreads(bare.with_tables(any_cpts), table, given_of))
    return {name: Spread(s.rates, s.rates, s.sizes) for name, s in found.items()}, fit, cost


def rate_matrix(prior: float) -> Sure:
    def sure(bare: Network, table: EncodedTable) -> tuple[Mapping[str, Spread], float, float]:
        learned, fit = timed(lambda: lc.learn(bare, table, TO_THE_END, prior))
        found, cost = timed(lambda: em_spreads_of(learned.network, table, prior))
        return found, fit, cost

    return sure


def em_spreads_of(network: Network, table: EncodedTable, prior: float) -> Mapping[str, Spread]:
    engine = engine_of(compile_problems(network.with_tables(None), table), 2**31)
    cells = engine.problems.layout.flat(dict(network.tables_of))
    return em_uncertainty(engine, cells, prior).spread_of


def on_graph(graph: MissingnessGraph, prior: float) -> Sure:
    def spreads(learned: object, table: EncodedTable) -> Mapping[str, Spread]:
        made = augmented(graph, table)
        whole = made.network.with_tables(
            dict(learned.tables)
            | {made.name_of[name]: cpt.table for name, cpt in learned.mechanisms.items()}
        )
        return em_spreads_of(whole, made.table, prior)

    def sure(_: Network, table: EncodedTable) -> tuple[Mapping[str, Spread], float, float]:
        learned, fit = timed(lambda: em_on(graph, table, TO_THE_END))
        found, cost = timed(lambda: spreads(learned, table))
        return found, fit, cost

    return sure


def by_jackknife(method: str, prior: float) -> Sure:
    def sure(bare: Network, table: EncodedTable) -> tuple[Mapping[str, Spread], float, float]:
        learned, fit = timed(lambda: lc.learn(bare, table, method, prior).network)

        def refit(rows: EncodedTable) -> Network:
            own = TO_THE_END if method == "em" else method
            if method == "em":
                own = lc.EM(seed=learned, tolerance=1e-5, max_iterations=5000)
            return lc.learn(bare, rows, own, prior).network

        found, cost = timed(lambda: jackknife(learned, table, refit, prior).spreads())
        return found, fit, cost

    return sure


Draw = Callable[[np.random.Generator], EncodedTable]


def problems() -> Iterator[tuple[str, Network, Draw, dict[str, Sure]]]:
    survey = lc.example("survey")
    missing = MAR(share=0.5, parents=2, beta=(1.0, 2.0)).draw(survey, np.random.default_rng(3))
    yield (
        "survey, MAR, 3 of 6 variables, 2,000 rows",
        survey,
        lambda rng: hide_cells(sample(survey, 2000, rng), missing, rng),
        {
            "direct-mar, influence": influence(2.0),
            "direct-mar, influence, prior 1": influence(1.0),
            "direct-mar, jackknife": by_jackknife("direct-mar", 2.0),
            "factored-mar, jackknife": by_jackknife("factored-mar", 2.0),
            "em, rate matrix": rate_matrix(2.0),
            "em, jackknife": by_jackknife("em", 2.0),
        },
    )
    alarm = lc.example("alarm")
    few = MAR(share=0.3, parents=2, beta=(1.0, 2.0)).draw(alarm, np.random.default_rng(5))
    yield (
        "alarm, MAR, 11 of 37 variables, 5,000 rows",
        alarm,
        lambda rng: hide_cells(sample(alarm, 5000, rng), few, rng),
        {
            "direct-mar, influence": influence(2.0),
            "informed-direct, influence": influence(2.0, few.separator),
            "informed-direct, learned, no prior": learned_separators,
            "em, rate matrix": rate_matrix(2.0),
            "factored-mar, jackknife": by_jackknife("factored-mar", 2.0),
        },
    )
    for name in ("the paper's pair", "a ring"):
        at = list(five.GRAPHS).index(name)
        graph = five.graph_of(name)
        truth, shows = five.law_of(graph, np.random.default_rng([1, at]))
        yield (
            f"mnar, {name}, 5,000 rows",
            truth,
            lambda rng, g=graph, t=truth, s=shows: five.sample(g, t, s, 5000, rng),
            {"em on the graph, rate matrix": on_graph(graph, 2.0)},
        )


def study(truth: Network, draw: Draw, sure: Sure, sets: int) -> tuple[float, float, int, float]:
    covered: dict[tuple, list[bool]] = {}
    fits, costs = 0.0, 0.0
    bare = truth.with_tables(None)
    for seed in range(sets):
        table = draw(np.random.default_rng([17, seed]))
        spread_of, fit, cost = sure(bare, table)
        fits, costs = fits + fit, costs + cost
        counted = count(table, [truth.family(name) for name in truth.variables])
        for name in truth.variables:
            support = counted[truth.family(name)].dense().sum(axis=-1)
            low, high = np.moveaxis(spread_of[name].interval(), -1, 0)
            right = truth.cpt(name).table
            inside = (low <= right) & (right <= high)
            for row in map(tuple, np.argwhere(support >= 30)):
                for state in range(right.shape[-1]):
                    if 0 < right[(*row, state)] < 1:
                        covered.setdefault((name, *row, state), []).append(
                            bool(inside[(*row, state)])
                        )
    shares = np.array([np.mean(found) for found in covered.values() if len(found) >= sets / 2])
    good = float(np.mean((shares >= 0.92) & (shares <= 0.98)))
    return float(shares.mean()), good, len(shares), costs / fits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--slow", type=int, default=20)
    parser.add_argument("--only", nargs="+", default=["survey", "alarm", "mnar"])
    chosen = parser.parse_args()
    for title, truth, draw, methods in problems():
        if title.split(",")[0] not in chosen.only:
            continue
        for method, sure in methods.items():
            # Thirty refits each: fewer data sets where one takes a minute.
            sets = chosen.sets if title[:5] != "alarm" or method[-5:] != "knife" else chosen.slow
            mean, good, entries, cost = study(truth, draw, sure, sets)
            print(
                f"{title:45} {method:32} {sets:4} sets {entries:4} entries "
                f"coverage {mean:.3f}, {good:.0%} in 92-98%, cost {cost:.1f} fits",
                flush=True,
            )


if __name__ == "__main__":
    main()
