"""Estimands where a mechanism is never 1 without another: R[B] <= R[A].

Such graphs are graphs with the edge R[A] -> R[B], in which some probabilities are zero. Estimands
that are found for the edge alone may divide by these; others, which serve, may be found only where
A is left out of the graph. So candidates from both are put to models.

**Why random models decide.** An estimand is a rational function of what can be observed, and so is
its difference from the query a rational function of the weights of a model. Such a function is zero
everywhere or almost nowhere: an estimand that gives the query of models drawn at random, with the
zeros in them, gives that of almost all models.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lacunet.counts.counts import added_up
from lacunet.counts.distinct_rows import distinct_rows
from lacunet.data.table import EncodedTable
from lacunet.missingness.formulas.samples import Run, Unfounded
from lacunet.missingness.formulas.terms import Term
from lacunet.missingness.limits import MAX_MODEL_CONFIGURATIONS
from lacunet.missingness.recover.chain import KnownLaws, TermSearch, find_term, other_terms
from lacunet.missingness.recover.queries import Query
from lacunet.missingness.refute.models import Models, models_of, random_weights
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.missingness.refute.submodels import Submodel
from lacunet.missingness.separation.mixed import MixedGraph, OutOfWork, project_out
from lacunet.network.named_axes import Table

MODEL_SEEDS = (0, 1)  # of the random models; one would do but for chance
MODEL_STATES = (3, 2)  # of every variable: three where that is small enough
ROUNDING_OF_ANSWER = 1e-8  # an answer this close to the query is off by rounding alone


def find_monotone_term(search: TermSearch, query: Query, asked: Asked) -> Term | None:
    """An estimand that holds although some probabilities are zero."""
    try:
        for term in _candidates(search, query):
            if holds(search.graph, asked, search.known, term):
                return term
    except OutOfWork:
        search.is_cut_short = True
    return None


def _candidates(search: TermSearch, query: Query) -> Iterator[Term]:
    """Estimands for the edge alone, then one of the graph without what comes earlier."""
    graph = search.graph
    known = search.known
    first = find_term(search, query)
    if first is not None:
        yield first
        yield from other_terms(graph, first, known)
    left = graph
    for _, earlier in sorted(graph.monotone, key=str):
        if earlier.variable not in query.names and earlier in left.parents:
            left = project_out(left, earlier)
            if earlier.variable in left.parents:
                left = project_out(left, earlier.variable)
    if left is not graph:
        term = find_term(TermSearch(left, known), query)
        if term is not None:
            yield term


def holds(graph: MixedGraph, asked: Asked, known: KnownLaws, term: Term) -> bool:
    """Whether an estimand gives the query of random models, from what can be observed of them."""
    for states in MODEL_STATES:
        submodel = Submodel(graph, dict.fromkeys(graph.variables, states))
        if submodel.configurations <= MAX_MODEL_CONFIGURATIONS:
            models = models_of(submodel)
            return all(_holds_in(models, seed, asked, known, term) for seed in MODEL_SEEDS)
    return False


def _holds_in(models: Models, seed: int, asked: Asked, known: KnownLaws, term: Term) -> bool:
    """The same for one model: rows by their probability, then the estimand, then the query."""
    grid = models.grid
    weights = random_weights(models, seed)
    columns = {name: codes.astype(np.uint8) for name, codes in grid.codes_of.items()}
    table = EncodedTable(grid.submodel.cardinality_of, columns, models.manifest(weights))
    rows = distinct_rows(table, tuple(columns))
    laws = {}
    for names in map(grid.submodel.graph.named, known):
        groups, cells = grid.groups(names)
        shares = added_up(groups, models.joint(weights), cells)
        laws[names] = Table(names, shares.reshape(grid.shape(names)))
    try:
        with np.errstate(all="ignore"):  # what the zeros make of it is compared below
            answer = term.compute(Run(rows, laws)).table.aligned(asked.names)
    except Unfounded:
        return False
    gap = np.abs(np.ravel(answer) - models.query(weights, asked))
    return bool((gap < ROUNDING_OF_ANSWER).all())  # not where it is NaN


def monotone_in_words(graph: MixedGraph, term: Term) -> str:
    """What keeps rows from being as an estimand assumes, behind the words of what it assumes."""
    pairs = sorted(
        (str(later), str(earlier))
        for later, earlier in graph.monotone
        if later.variable in term.columns
    )
    orders = ", ".join(f"{later} <= {earlier}" for later, earlier in pairs)
    return f", where {orders} allows it" if orders else ""
