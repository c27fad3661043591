"""The paragraph for the methods section: what was done, and what to cite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from lacunet.errors import as_level
from lacunet.learning.closed_forms.forms import UNGROUPED
from lacunet.learning.em.em_stage import NOTE_ON_LOOPY
from lacunet.learning.family_reports import AT_PRIOR, BY_GRAPH, BY_SELECTION
from lacunet.learning.plan import Ended
from lacunet.learning.pseudo_counts import PseudoCounts, has_pseudo_counts
from lacunet.learning.result import Result
from lacunet.network.dictionary import Meaning
from lacunet.network.network import Network
from lacunet.text import counted, first_of, own_version

PAPER = (
    "G. Van den Broeck, K. Mohan, A. Choi, A. Darwiche and J. Pearl, Efficient Algorithms for "
    "Bayesian Network Parameter Learning from Incomplete Data, Proceedings of the 31st Conference "
    "on Uncertainty in Artificial Intelligence (UAI), 2015."
)
EM_PAPER = (
    "S. L. Lauritzen, The EM Algorithm for Graphical Association Models with Missing Data, "
    "Computational Statistics and Data Analysis 19, 1995."
)
GRAPHS_PAPER = (
    "K. Mohan and J. Pearl, Graphical Models for Processing Missing Data, Journal of the American "
    "Statistical Association 116, 2021."
)
VARIANCE_PAPER = (
    "X.-L. Meng and D. B. Rubin, Using EM to Obtain Asymptotic Variance-Covariance Matrices: The "
    "SEM Algorithm, Journal of the American Statistical Association 86, 1991."
)
SOFTWARE = f"The lacunet maintainers, lacunet (software), version {own_version()}."
CITED = (PAPER, EM_PAPER, GRAPHS_PAPER, VARIANCE_PAPER, SOFTWARE)
CLOSED = {
    "listwise": "from the complete rows alone",
    "direct-mcar": "by direct deletion (the rows that show a variable with its parents)",
    "factored-mcar": "by factored deletion",
    "direct-mar": "by direct deletion within groups of the fully observed variables",
    "factored-mar": "by factored deletion within groups of the fully observed variables",
    "informed-direct": "by informed direct deletion",
    "informed-factored": "by informed factored deletion",
}
CLOSED["auto"] = CLOSED["factored-mar"]  # where rows are too few for EM
RECIPES = {
    "counts": "from the counts of each CPT row",
    "influence of rows": "from the influence of each row",
    "rate matrix of EM": f"from the rate matrix of EM {VARIANCE_PAPER}",
    "delete-a-row jackknife": "by a delete-a-row jackknife",
    "delete-a-group jackknife": "by a delete-a-group jackknife",
    "delete-a-cluster jackknife": "by a delete-a-cluster jackknife, within strata",
    "replicate weights": "from the replicate weights of the survey",
    "posterior": "from the posterior, in which what experts know is the prior",
}
ENDED = {
    "converged": "run to convergence",
    "iteration limit": "stopped at its limit of iterations",
    "time limit": "stopped at its time limit",
    "cost limit": "stopped at the limit of what it may compute",
    "interrupted": "interrupted",
}


def methods_text(result: Result, level: float = 0.95) -> str:
    """How a result was made, in sentences for a paper, with the citations at the end.

    Everything said is taken from the result: the data it saw and how they were read, the method
    that really ran, how it ended, what fell back and what rests on no data.
    """
    sentences = [_data(result), *_reading(result.network), _method(result)]
    if result.alternatives is not None:
        sentences += filter(None, [result.alternatives.sentence])
    sentences.append(_pseudo_counts(result))
    if result.uncertainty is not None:
        recipe = result.uncertainty.recipe
        words = RECIPES.get(recipe, f"by {recipe}")
        kind = "Credible intervals" if result.uncertainty.is_credible else "Intervals"
        sentences += [f"{kind} at the level of {100 * as_level(level):g}% were computed {words}."]
        sentences += filter(None, [result.uncertainty.chance, _search(result.network)])
        if result.search_falls_short:
            sentences.append("Rows miss many of their cells, so that they may be too narrow.")
    sentences += [*_weak(result)]
    sentences.append(
        f"Computations were done with lacunet {own_version()} {SOFTWARE}, which implements the "
        f"estimators of {PAPER}."
    )
    return _with_numbers(" ".join(sentences))


def _search(network: Network) -> str:
    """Whether intervals count that the edges were learned; empty where they are known."""
    if network.bootstrap is None:
        return ""
    if not network.bootstrap:
        return "The edges were learned from rows, and the intervals take them as known."
    number = len(network.bootstrap)
    return (
        "The edges were learned from rows. Intervals of answers reach over those of the answers of "
        f"networks learned from {number} Bayesian bootstrap replicates; those of CPTs take the "
        "edges as known."
    )


def _with_numbers(text: str) -> str:
    """The text with numbers for the references in it, which follow at its end."""
    cited = sorted((paper for paper in CITED if paper in text), key=text.index)
    for number, paper in enumerate(cited, 1):
        text = text.replace(paper, f"[{number}]")
    return text + "\n\n" + "\n".join(f"[{number}] {paper}" for number, paper in enumerate(cited, 1))


def _data(result: Result) -> str:
    network = result.network
    gaps = sum(result.missing.values())
    cells = max(result.rows * len(result.missing), 1)
    partially = sum(count > 0 for count in result.missing.values())
    weighted = "" if result.total == result.rows else "weighted "
    missing = "no value was missing"
    if gaps:
        variables = counted(len(result.missing), "variable")
        missing = f"{gaps / cells:.1%} of the values were missing, in {partially} of {variables}"
    return (
        f"The conditional probability tables (CPTs) of a Bayesian network with "
        f"{counted(len(network.variables), 'variable')} and "
        f"{counted(len(network.edges), 'edge')} were estimated from {result.rows:,} "
        f"{weighted}{'row' if result.rows == 1 else 'rows'} of data; {missing}."
    )


def _reading(network: Network) -> list[str]:
    """How cells became states: cuts, codes, and questions that were not asked."""
    sentences = []
    if network.cuts_of:
        cut = "; ".join(
            f"{name} at {_and([f'{point:g}' for point in cuts if isfinite(point)])}"
            for name, cuts in network.cuts_of.items()
        )
        sentences.append(f"Numbers were cut into intervals, each with its lower end: {cut}.")
    names_of: dict[str, list[str]] = {}
    for name, codes in network.codes_of.items():
        names_of.setdefault(_codes(codes), []).append(name)
    if names_of:
        coded = "; ".join(f"{words} in {_and(names)}" for words, names in names_of.items())
        sentences.append(f"Codes were read as follows: {coded}.")
    rules = [
        f"{name} was not asked where {rule.when}, and has the state {rule.state!r} there"
        for name, rule in network.not_asked_of.items()
    ]
    if rules:
        sentences.append("; ".join(rules) + ".")
    return sentences


def _codes(codes: Mapping[str, Meaning]) -> str:
    codes_of: dict[str, list[str]] = {}
    for code, meaning in codes.items():
        words = f"one of {_and(meaning)}" if isinstance(meaning, tuple) else meaning or "missing"
        codes_of.setdefault(words, []).append(code)
    return ", ".join(f"{_and(codes)} as {words}" for words, codes in codes_of.items())


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _method(result: Result) -> str:
    if not result.assumption:
        added = ""
        if has_pseudo_counts(result.pseudo_counts):
            added = ", with pseudo-counts added"
        return f"The CPTs are the relative frequencies in the data{added}."
    if result.method == "mgraph":
        return (
            "Each CPT was estimated by a formula that is identified under a missingness graph "
            f"{GRAPHS_PAPER}, which names the causes of missing values{_graph(result)}"
            f"{_stood_in(result)}."
        )
    if result.ended is not None:
        return _em(result, result.ended)
    words = CLOSED.get(result.method, result.method)
    if result.method == "listwise":
        used = max(report.rows_used for report in result.families.values())
        words += f" ({used:,} of {result.rows:,})"
    words += f", assuming that {result.assumption}"
    return f"The CPTs were estimated in closed form {words} {PAPER}."


def _stood_in(result: Result) -> str:
    """What was done about CPTs for which no such formula could be used."""
    names_of: dict[str, list[str]] = {}
    for report in result.families.values():
        if report.fallback_mass > 0:
            names_of.setdefault(report.fallback, []).append(report.variable)
    phrases = [
        f"{'left at the prior' if name == AT_PRIOR else f'estimated by {name}'} ({_and(names)})"
        for name, names in names_of.items()
    ]
    return f"; where there is none, CPTs were {_and(phrases)}" if phrases else ""


def _graph(result: Result) -> str:
    """The missingness graph on one line; empty for results of files that do not have it."""
    mechanisms = result.network.mechanisms
    if mechanisms is None:
        return ""
    return f" ({'; '.join(mechanisms.graph.splitlines())})"


ASSUMED_BY_GRAPH = {
    BY_GRAPH: "with the mechanisms of a missingness graph as observed nodes of the network",
    BY_SELECTION: "given that the rows were recorded, under a missingness graph by which they "
    "are a selection",
}


def _em(result: Result, ended: Ended) -> str:
    """What EM maximised, under which assumption, and how it ended."""
    how_it_ended = ENDED.get(ended.reason, ended.reason)
    if not ended.iterations:
        start = "the CPTs are those that it would have started from"
        if ended.stands:
            start += f", by {ended.stands}, assuming that {result.assumption}"
        return (
            f"Expectation maximisation {EM_PAPER} was {how_it_ended} "
            f"before its first iteration: {start}."
        )
    assumed = f"assuming that {result.assumption}"
    if result.assumption in ASSUMED_BY_GRAPH:
        assumed = f"{ASSUMED_BY_GRAPH[result.assumption]}{_graph(result)}"
    starts = ""
    if len(ended.starts) > 1:
        starts = f" ({counted(len(ended.starts), 'start')})"
    does = "maximise" if ended.reason == "converged" else "approach the maximum of"
    goal = "likelihood of"
    if has_pseudo_counts(result.pseudo_counts):
        goal = "posterior given"
    loopy = sum(NOTE_ON_LOOPY in report.warnings for report in result.families.values())
    about_loopy = ""
    if loopy:
        about_loopy = (
            f" The expected counts of {counted(loopy, 'CPT')} were approximated by loopy belief "
            "propagation."
        )
    return (
        f"The CPTs {does} the {goal} all observed values, {assumed}; expectation maximisation "
        f"{EM_PAPER} was {how_it_ended}{starts}, after "
        f"{counted(ended.iterations, 'iteration')}.{about_loopy}"
    )


def _pseudo_counts(result: Result) -> str:
    """What was added to the counts, and where that comes from."""
    pseudo_counts = result.pseudo_counts
    is_closed = (result.ended is None or result.method == "mgraph") and any(result.missing.values())
    cell = "each cell"
    if is_closed:
        cell = "each cell of the estimate, scaled to all rows"
    if isinstance(pseudo_counts, PseudoCounts):
        if not pseudo_counts.is_learned:
            return f"A symmetric Dirichlet prior added one pseudo-count to {cell}."
        if pseudo_counts.is_design_based:
            return f"The estimate is design-based, with {pseudo_counts}."
        if pseudo_counts.experts is not None:
            return f"What experts know was the Dirichlet prior: {pseudo_counts}."
        source = "learned from the counts of all CPTs"
        if pseudo_counts.is_given:
            source = "given"
        return f"The pseudo-counts of the Dirichlet prior were {source}: {pseudo_counts}."
    if pseudo_counts == 0:
        return "No pseudo-counts were added (maximum likelihood)."
    number = "one pseudo-count" if pseudo_counts == 1 else f"{pseudo_counts:g} pseudo-counts"
    return f"A symmetric Dirichlet prior added {number} to {cell}."


def _weak(result: Result) -> list[str]:
    """Which CPTs rest on other rows than their own, or on none."""
    reports = result.families.values()
    sentences = []
    fell = [report.variable for report in reports if report.fallback == UNGROUPED]
    if fell:
        sentences.append(
            f"For {counted(len(fell), 'CPT')} ({first_of(fell, 3)}) some groups of rows had no "
            "data of their own, and the estimate without groups was used there."
        )
    bare = sum(report.unsupported for report in reports)
    rows = sum(report.support.size for report in reports)
    if bare:
        sentences.append(
            f"No data support {bare:,} of {rows:,} CPT rows (parent configurations that no row "
            "shows with the variable); their values rest on the prior or on the rest of the model."
        )
    return sentences
