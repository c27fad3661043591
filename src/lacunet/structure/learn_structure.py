"""The whole way from data to a network: seed, completions, search, judge, and again.

1. Mechanisms of missing values are learned, or given.
2. The seed: greedy equivalence search on paired gains (`lacunet.structure.ges`).
3. Up to twelve rounds: draw completions of the rows, search orders for the DAG that scores best on
   them, and accept it only if the exact BIC of the observed cells rises. They are drawn from a
   network somewhat wider than the best so far or, if that leads to nothing better, from the best
   so far. After three rounds in a row without a rise (two where there was none before), or one
   that leads to the same class, come single moves that the exact score accepts
   (`lacunet.structure.final_moves`); where these lead far, another round.
4. Where there are no more than 40 variables, rounds start from completions that no DAG shapes
   (`lacunet.structure.chained_completions`) if these lead higher than the seed, and once more from
   others like them; the better of the two is kept.
5. CPTs by `lacunet.learn`, edge strengths by bootstrap.

Complete data need no judge: the search's own score is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan, prod
from numbers import Integral, Real
from time import monotonic
from typing import Any, Literal, overload

import numpy as np

from lacunet.data.data import as_data
from lacunet.data.errors import DataWarning
from lacunet.data.panels import refuse_panel
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError, warn
from lacunet.inference.errors import OverBudgetError
from lacunet.learning.auto import Auto
from lacunet.learning.em.em import EM
from lacunet.learning.imputation_model import ImputationModel
from lacunet.learning.learn import learn
from lacunet.learning.pseudo_counts import AskedPseudoCounts
from lacunet.learning.result import Interrupted
from lacunet.limits import Deadline, Memory, OutOfTimeError, memory_budget
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.arguments import clear_arguments
from lacunet.network.askable import Askable
from lacunet.network.cpt import Cpt
from lacunet.network.edges import tiers_of
from lacunet.network.network import FloatArray, Network
from lacunet.progress import AskedProgress, Progress, as_progress
from lacunet.randomness import generator
from lacunet.structure.chained_completions import complete_in_turn
from lacunet.structure.columns import column_remarks, read_columns
from lacunet.structure.cpdag import Arc, Cpdag, Parents, cpdag_of
from lacunet.structure.final_moves import LEAST_SCORE_RISE, Rejected, polish
from lacunet.structure.for_imputation import learn_imputation_model
from lacunet.structure.gains import Gains
from lacunet.structure.ges import Class, greedy_equivalence_search
from lacunet.structure.indexed_rows import CodedRows, in_order_of_content
from lacunet.structure.judge_by_em import (
    FittedStructure,
    Judge,
    network_of_dag,
    network_with_parents,
)
from lacunet.structure.knowledge import constraints_of, untiered
from lacunet.structure.mechanisms_of_rows import mechanisms_of
from lacunet.structure.scored_parents import MAX_FAMILY_CELLS, HopelessSets
from lacunet.structure.search import (
    FEW_KICKS,
    Constraints,
    Dag,
    Screen,
    add_gaining_arcs,
    better_dags,
)
from lacunet.structure.set_scores import Score
from lacunet.structure.strengths import Replicate, Strength, bootstrap, strengths_of
from lacunet.text import counted

MAX_COMPLETION_ROUNDS = 12
STARTS_OF_SEARCH = 2
RESTARTED_VARIABLES = 40  # with more, one start has to do
# rounds in a row without a rise: before the first rise, after it
FIRST_PATIENCE = 2
PATIENCE = 3
WORTH_A_ROUND = 1.0  # a rise of the exact score that makes another round worth while,
WORTH_OF_VARIABLES = 50  # in a network of so many variables; in proportion with more
# with fewer rows a round has so many completions, else one
FEW_ROWS = 2_000
FEW_ROWS_DRAWS = 3
UNDILUTED_ROWS = 50_000  # with as many, completions from the network so far dilute nothing
WIDE_SHARE = 0.4  # of the penalty, for the arcs that completions are drawn with
ENOUGH_TO_DRAW = 1.0  # rise of the log-likelihood: completions need no CPTs that are nearer
ScoreName = Literal["sparse-bic", "bic", "bdeu"]
EQUIVALENT_SIZE = 10.0  # of BDeu, unless another is given
SEED_ROWS = 50_000  # the seed of `auto` is counted from these many rows
STRENGTH_ROWS = 200_000  # with more, strengths are computed only if asked for
REPLICATES = 20
FEW_REPLICATES = 10
STRENGTH_DRAWS = 5  # completions that replicates take turns with
# What the CPTs of the result may take: so long at most, and so long however little time is left.
EM_SECONDS = 600.0
LEAST_EM_SECONDS = 0.5


@dataclass(frozen=True)
class Round:
    """One step of the search: the exact score that was reached, and whether it was accepted."""

    what: str
    score: float
    edges: int
    is_accepted: bool
    seconds: float


@clear_arguments
@dataclass(frozen=True, repr=False)
class LearnedStructure(Askable):
    """A network learned from data alone.

    ``network`` has the learned CPTs. Data tell a DAG only up to Markov equivalence: ``cpdag`` has
    the directions that follow from the data and from the edges required and forbidden. ``score`` is
    the BIC of the observed cells, without a charge for what cannot occur unless plain BIC was asked
    for (or BDeu, for complete data, if that was; with missing values the penalty of a family goes
    by the rows that show it), ``trace`` how it rose.
    ``strengths`` has the probability of each edge: shares of bootstrap replicates, corrected by how
    often such edges are true in published networks. ``missingness`` is the missingness graph, None
    where nothing is missing or values were assumed to be missing completely at random. ``ended``
    is "converged", "round limit", "closed form", "time limit", "memory limit" or "interrupted".
    Those of the ``notes`` that were given as warnings are ``warned``, and not printed again.
    """

    network: Network
    cpdag: Cpdag
    score: float
    trace: tuple[Round, ...]
    strengths: Mapping[Arc, Strength]
    missingness: MissingnessGraph | None
    ended: str
    rows: int
    seconds: float
    notes: tuple[str, ...]
    why: str
    warned: tuple[str, ...] = ()

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The edges of the network, (parent, child); in ``cpdag`` some have no direction."""
        return self.network.edges

    def __dir__(self) -> list[str]:
        """What it is asked; what the package itself needs of it is not completed."""
        return [name for name in super().__dir__() if name != "warned"]

    def __repr__(self) -> str:
        edges = counted(self.cpdag.edges, "edge")
        return f"<LearnedStructure: {edges} from {counted(self.rows, 'row')}, {self.ended}>"

    def _repr_html_(self) -> str:
        from lacunet.show.figures.notebook_figures import structure_html
        from lacunet.show.structure_text import edges_as_text

        return structure_html(
            self.network, self.cpdag.reversible, repr(self)[1:-1], edges_as_text(self)
        )

    def __str__(self) -> str:
        if self.strengths:
            from lacunet.show.structure_text import edges_as_text

            return f"{self!r}\n{edges_as_text(self)}"
        untold = UNTOLD if self.cpdag.reversible else ""
        return "\n".join(filter(None, [repr(self), str(self.cpdag), untold]))


UNTOLD = "--: the data do not tell the direction"


@dataclass(eq=False)
class Search:
    """What every stage needs, and where the search is.

    It is the one object here that changes, so that it can be cut short.
    """

    table: EncodedTable
    rows: CodedRows  # the same by index
    constraints: Constraints
    score: Score
    rng: np.random.Generator
    progress: Progress
    judge: Judge
    dag: Dag
    fit: FittedStructure | None = None
    drawn: tuple[FittedStructure, list[CodedRows]] | None = None  # the last, and from what
    screen: Screen | None = None
    hopeless: HopelessSets = field(default_factory=HopelessSets)  # the same in all completions
    wide: Gains | None = None  # of the seed, for the networks that completions are drawn from
    rejected: Rejected = field(default_factory=set)  # moves that the judge did not accept
    trace: list[Round] = field(default_factory=list)
    ended: str = ""
    began: float = field(default_factory=monotonic)

    @property
    def deadline(self) -> Deadline:
        """When to end."""
        return self.judge.deadline

    def screen_of(self, rows: CodedRows) -> Screen:
        """What candidates for parents in these rows are chosen by."""
        return Screen(rows, self.constraints, self.score, self.hopeless)

    def note(self, what: str, score: float, dag: Dag, *, is_accepted: bool) -> None:
        """Remember a step."""
        edges = sum(map(len, dag))
        self.trace.append(
            Round(
                what=what,
                score=score,
                edges=edges,
                is_accepted=is_accepted,
                seconds=monotonic() - self.began,
            )
        )


@overload
def learn_structure(
    data: Any,
    *,
    purpose: Literal["imputation"],
    keep_pairs: Sequence[str] | str = (),
    time_limit: float | None = None,
    rng: np.random.Generator | int | None = None,
    memory: Memory = None,
    progress: AskedProgress = False,
) -> ImputationModel: ...


@overload
def learn_structure(
    data: Any,
    *,
    purpose: Literal["structure"] = "structure",
    required: Iterable[tuple[str, str] | str] = (),
    forbidden: Iterable[tuple[str, str] | str] = (),
    tiers: Sequence[Sequence[str]] | str | None = None,
    max_parents: int = 4,
    missingness: str | MissingnessGraph | None = "learn",
    method: Literal["auto", "closed-form"] = "auto",
    time_limit: float | None = None,
    rng: np.random.Generator | int | None = None,
    score: ScoreName | tuple[Literal["bdeu"], float] = "sparse-bic",
    strengths: int | None = None,
    pseudo_counts: AskedPseudoCounts | None = None,
    memory: Memory = None,
    progress: AskedProgress = False,
) -> LearnedStructure: ...


@clear_arguments
def learn_structure(
    data: Any,
    *,
    purpose: Literal["structure", "imputation"] = "structure",
    keep_pairs: Sequence[str] | str = (),
    required: Iterable[tuple[str, str] | str] = (),
    forbidden: Iterable[tuple[str, str] | str] = (),
    tiers: Sequence[Sequence[str]] | str | None = None,
    max_parents: int = 4,
    missingness: str | MissingnessGraph | None = "learn",
    method: Literal["auto", "closed-form"] = "auto",
    time_limit: float | None = None,
    rng: np.random.Generator | int | None = None,
    score: ScoreName | tuple[Literal["bdeu"], float] = "sparse-bic",
    strengths: int | None = None,
    pseudo_counts: AskedPseudoCounts | None = None,
    memory: Memory = None,
    progress: AskedProgress = False,
) -> LearnedStructure | ImputationModel:
    """Learn a network, structure and CPTs, from data with or without missing values.

    Parameters
    ----------
    data
        A path or several, a dataframe of any library, or `lacunet.Data`, which also says how to
        read them: intervals of numbers, codes, delimiters, questions that were not asked of all.
        With ``not_asked={"SmokesNow": "Smoked=no"}`` the network always has the edge Smoked ->
        SmokesNow. Every column is a variable, except those that ``without=``, ``weight=``,
        ``counts=``, ``strata=`` and ``cluster=`` name there; with ``states=network``, those of that
        network are. The search does not use strata and clusters; a warning says so.
    purpose
        "structure", or "imputation" for a dense network that completes rows and answers no queries
        (`lacunet.learning.dense`): no edge is left out, so that completed rows have whatever an
        analysis asks about. Columns of numbers are cut by themselves, finely. Of the arguments
        below it takes ``time_limit``, ``rng``, ``memory`` and ``progress``.
    keep_pairs
        For imputation: columns whose effects on each other are hardly shrunk, however little the
        rows say of them, as those that will be analysed. Names, or a text ``"A, B, C"``.
    required, forbidden
        Edges that the network must have, and that it must not have: pairs ``(parent, child)``, or
        a text such as ``"A -> B; A, C -> D"``.
    tiers
        Groups of columns, earlier ones first: no edge leads from a later into an earlier group.
        ``[["A", "B"], ["C"]]``, or as a text ``"A, B; C"``, says that C comes after A and B. So
        does ``[["A", "B"], "C"]``: a name alone is a group, and ``["A", "B"]`` two groups. Columns
        in no group may come before or after any; ``notes`` names them.
    max_parents
        The largest number of parents.
    missingness
        How values go missing: "learn" it, a missingness graph or its text, or None for completely
        at random.
    method
        "auto", or "closed-form" for the network that the search would start from: greedy
        equivalence search on the rows that show the variables compared, without iterating.
    time_limit
        Seconds after which the best so far is returned.
    rng
        A seed or a generator. The same seed gives the same result; None is 0.
    score
        "bic": BIC, which charges for each free parameter. "sparse-bic": the same, without the
        parameters of combinations of states that seem impossible, because no row has them although
        independent variables would have them in five rows or more. "bdeu": BDeu with
        an equivalent sample size of 10, the pseudo-counts of each table, all its cells together;
        ``("bdeu", 1)`` says another one. With missing values BDeu only proposes structures, and
        whether one is accepted is decided by the BIC of the data as observed.
    strengths
        The number of bootstrap replicates for edge strengths; also True for 20, False or 0 for
        none. By default 20, and none for more than 200,000 rows; fewer than 10 say little.
    pseudo_counts
        What is added to each cell of the CPTs, as for `lacunet.learn`.
    memory
        The budget in bytes, or such as ``"500MB"``; by default half of the memory there is.
    progress
        True for a bar, in notebooks too, or a function to call as the work goes on.

    Returns
    -------
    A value that prints. Its ``network`` has the learned structure and CPTs. Its ``cpdag`` says
    which directions the data tell: ``A -> B`` where they do, ``A -- B`` where they do not. Its
    ``strengths`` hold for each edge the probability that its variables are adjacent, and that it
    has this direction. Its ``missingness`` is the missingness graph, or None. With
    ``purpose="imputation"`` it is a model of which ``impute(data, draws=20)`` gives completed
    tables.

    Raises
    ------
    LacunetError
        Something is wrong with the input; the message says what, where and the way out.

    Examples
    --------
    B is A, save in ten rows; C has nothing to do with them.

    >>> coin = [0, 1] * 50
    >>> same = coin[:90] + [1 - x for x in coin[90:]]
    >>> learned = learn_structure({"A": coin, "B": same, "C": [0, 0, 1, 1] * 25})
    >>> print(learned.cpdag)
    A -- B

    All bootstrap replicates have the edge. The probability is still below one, for such edges are
    not always right.

    >>> print(f"{learned.strengths['A', 'B'].adjacent:.2f}")
    0.98
    """
    shown_progress = as_progress(progress)
    _check_purpose(
        purpose,
        keep_pairs=keep_pairs,
        required=required,
        forbidden=forbidden,
        tiers=tiers,
        max_parents=max_parents,
        missingness=missingness,
        method=method,
        score=score,
        strengths=strengths,
        pseudo_counts=pseudo_counts,
    )
    if purpose == "imputation":
        return learn_imputation_model(
            data,
            keep_pairs=keep_pairs,
            time_limit=time_limit,
            rng=generator(0 if rng is None else rng),
            memory=memory,
            progress=shown_progress,
        )
    replicates_asked = REPLICATES if strengths is True else strengths
    scoring, equivalent_size = _scoring(score)
    _check(method, replicates_asked, missingness)
    ordered_tiers = tiers_of(tiers)
    began = monotonic()
    deadline = Deadline.asked(time_limit)
    given_data = as_data(data)
    refuse_panel(given_data, "learn_structure")
    budget = memory_budget(memory)

    columns, read_table = read_columns(given_data, budget, shown_progress)
    for note in columns.notes:
        warn(note, DataWarning)
    scaled = in_order_of_content(read_table.scaled())
    mechanisms = mechanisms_of(
        columns.network, scaled, missingness, deadline, tuple(given_data.latent)
    )
    # The search is the same in any order of the columns.
    given = columns.network.variables
    network = network_with_parents(columns.network, sorted(given), columns.network.parents_of)
    table = _with_columns_of(network, scaled)
    rows = CodedRows.of(table)

    constraints = constraints_of(
        variables=network.variables,
        required=required,
        forbidden=forbidden,
        tiers=ordered_tiers,
        max_parents=max_parents,
        rules=network.edges_of_rules,
    )
    search = Search(
        table=table,
        rows=rows,
        constraints=_without_constants(constraints, rows),
        score=Score(table.total, equivalent_size, scoring == "sparse-bic"),
        rng=generator(0 if rng is None else rng),
        progress=shown_progress,
        judge=Judge(
            network,
            table,
            budget,
            deadline.earlier(_seconds_kept_for_cpts(time_limit)),
            mechanisms.to_judge,
            scoring != "bic",
        ),
        dag=constraints.directed([set()] * len(rows)),
    )
    _run(search, method)

    structure = network_of_dag(network, search.dag)
    cpdag = cpdag_of(network.variables, search.dag, constraints.contradicted)
    as_given = network_with_parents(structure, given, structure.parents_of)
    as_given = as_given.with_reversible(cpdag.reversible)
    cpts = _cpts(search, structure, pseudo_counts)
    support = {name: cpt.supported for name, cpt in cpts.items() if cpt.supported is not None}
    learned = as_given.with_tables({name: cpt.table for name, cpt in cpts.items()})
    replicates = _bootstrap(search, replicates_asked)
    networks = _networks(search, as_given, replicates)
    return LearnedStructure(
        network=learned.with_support(support).with_bootstrap(networks),
        cpdag=cpdag.in_order(given),
        score=_last_accepted_score(search.trace),
        trace=tuple(search.trace),
        strengths=_strengths(search, replicates),
        missingness=mechanisms.graph and mechanisms.graph.with_edges_of(as_given),
        ended=search.ended,
        rows=table.row_count,
        seconds=monotonic() - began,
        notes=(
            *columns.notes,
            *untiered(ordered_tiers, given),
            *column_remarks(rows),
            *mechanisms.notes,
        ),
        why=_why(search),
        warned=columns.notes,
    )


def _with_columns_of(network: Network, table: EncodedTable) -> EncodedTable:
    """The table with its columns in the order of a network's variables."""
    names = network.variables
    columns = {name: table.columns[name] for name in names}
    ordered = table.with_columns({name: table.cardinality_of[name] for name in names}, columns)
    return in_order_of_content(ordered)


def _last_accepted_score(trace: Sequence[Round]) -> float:
    """The score that the search reached; NaN where it has none, as for a closed form."""
    for step in reversed(trace):
        if step.is_accepted:
            return step.score
    return nan


def _cpts(
    search: Search, structure: Network, pseudo_counts: AskedPseudoCounts | None
) -> dict[str, Cpt]:
    """The CPTs of the structure; mechanisms that cannot be left out are learned along.

    An interruption leaves half a second for them.
    """
    learned_structure, table, method = _how_to_learn_cpts(search, structure)
    options: Any = {"rng": search.rng, "memory": search.judge.memory, "progress": search.progress}
    try:
        learned = learn(
            learned_structure, table, method, pseudo_counts=pseudo_counts, **options
        ).network
    except Interrupted as stopped:
        search.ended = "interrupted"
        learned = stopped.result.network
    except KeyboardInterrupt:
        if search.ended == "interrupted":  # the second interruption
            raise
        search.ended = "interrupted"
        return _cpts(search, structure, pseudo_counts)
    return {name: learned.cpt(name) for name in structure.variables}


def _seconds_kept_for_cpts(time_limit: float | None) -> float:
    """What the search leaves of a time limit for the CPTs, a tenth of it at most."""
    return 0.0 if time_limit is None else min(LEAST_EM_SECONDS, time_limit / 10)


def _how_to_learn_cpts(
    search: Search, structure: Network
) -> tuple[Network, EncodedTable, Auto | EM | str]:
    """The structure, with mechanisms if need be, the rows, and the method to learn its CPTs by."""
    if search.ended == "closed form":
        return structure, search.table, "factored-mar"
    left = LEAST_EM_SECONDS if search.ended == "interrupted" else search.deadline.left
    time_limit = min(max(left, LEAST_EM_SECONDS), EM_SECONDS)
    if search.judge.graph is None or search.fit is None:
        return structure, search.table, Auto(time_limit=time_limit)
    fitted = search.judge.network(search.fit)
    method = EM(start=fitted, restarts=1, time_limit=time_limit)
    return fitted.with_tables(None), search.judge.table, method


OF_A_SEARCH: Mapping[str, object] = {
    "required": (),
    "forbidden": (),
    "tiers": None,
    "max_parents": 4,
    "missingness": "learn",
    "method": "auto",
    "score": "sparse-bic",
    "strengths": None,
    "pseudo_counts": None,
}


def _check_purpose(purpose: object, *, keep_pairs: object, **asked: object) -> None:
    """Refuse arguments that the other purpose has."""
    if purpose not in ("structure", "imputation"):
        raise LacunetError(f"there is no purpose {purpose!r}.", "give 'structure' or 'imputation'.")
    if purpose == "structure":
        if keep_pairs != ():
            raise LacunetError(
                f"keep_pairs={keep_pairs!r} is for networks that complete rows.",
                "add purpose='imputation'; or name edges that must be there: required='A -> B'.",
            )
        return
    given = [name for name, default in OF_A_SEARCH.items() if _differs(asked[name], default)]
    if given:
        raise LacunetError(
            f"{given[0]}={asked[given[0]]!r} is for the search of a structure: for imputation no "
            "edge is left out, and values are taken to be missing at random.",
            f"leave {given[0]} out, or purpose.",
        )


def _differs(asked: object, default: object) -> bool:
    is_nothing = isinstance(asked, str | list | tuple) and not len(asked)
    return not (asked is default or (is_nothing and default == ()) or asked == default)


def _scoring(score: object) -> tuple[str, float | None]:
    """The name of the score, and of BDeu the equivalent sample size."""
    name, *sizes = score if isinstance(score, tuple) else (score,)
    most_sizes = 1 if name == "bdeu" else 0
    if name not in ("sparse-bic", "bic", "bdeu") or len(sizes) > most_sizes:
        raise LacunetError(
            f"there is no score {score!r}.", "give 'sparse-bic', 'bic', 'bdeu' or ('bdeu', 1)."
        )
    if name != "bdeu":
        return name, None
    size = sizes[0] if sizes else EQUIVALENT_SIZE
    if not (isinstance(size, Real) and 0 < float(size) < inf):
        raise LacunetError(
            f"the equivalent sample size of BDeu is {size!r}, not a positive number.",
            "as in score=('bdeu', 1).",
        )
    return name, float(size)


def _check(method: str, strengths: int | None, missingness: object) -> None:
    """Refuse options that cannot be used; warn of few replicates."""
    if method not in ("auto", "closed-form"):
        raise LacunetError(f"there is no method {method!r}.", "give 'auto' or 'closed-form'.")
    if strengths is not None and not (isinstance(strengths, Integral) and strengths >= 0):
        raise LacunetError(f"strengths is {strengths!r}, not a number of replicates.")
    if 0 < (strengths or 0) < FEW_REPLICATES:
        replicates = counted(int(strengths or 0), "bootstrap replicate")
        warn(f"{replicates} for edge strengths: so few say little; the default is {REPLICATES}")
    is_word = isinstance(missingness, str) and missingness.lower() in ("none", "mcar")
    if is_word or not isinstance(missingness, str | MissingnessGraph | None):
        raise LacunetError(
            f"missingness is {missingness!r}, which is not a missingness graph.",
            "give 'learn', a graph or its text, or for completely at random missingness=None.",
        )


def _without_constants(constraints: Constraints, rows: CodedRows) -> Constraints:
    """The constraints, with no arc to or from a variable that shows at most one state."""
    excluded = constraints.forbidden | ~rows.varies[:, None] | ~rows.varies
    for y, required in enumerate(constraints.required):
        excluded[list(required), y] = False
        if prod(rows.sizes[node] for node in (*required, y)) > MAX_FAMILY_CELLS:
            raise LacunetError(
                f"the CPT of {rows.variables[y]!r} with its required parents would have more "
                f"than {MAX_FAMILY_CELLS:,} cells.",
                "require fewer parents, or merge states.",
            )
    return replace(constraints, forbidden=excluded)


def _run(search: Search, method: str) -> None:
    """Search until it is done, or until time or the user ends it."""
    try:
        if method == "closed-form":
            _seed(search, search.rows)
            search.ended = "closed form"
        elif not search.table.partially_observed:
            _search_complete(search)
        else:
            _search_incomplete(search)
    except OutOfTimeError:
        search.ended = "time limit"
    except OverBudgetError:
        search.ended = "memory limit"
    except KeyboardInterrupt:
        search.ended = "interrupted"


def _seed(search: Search, rows: CodedRows) -> Gains:
    """Start from the closed-form seed, within the constraints; return the gains it was found by.

    If it is cut short, the search starts from what there is of it.
    """
    search.progress("first graph", 0, 1)
    limits = search.constraints
    excluded = limits.forbidden & limits.forbidden.T  # in both directions
    gains = Gains.of(rows)
    dags = greedy_equivalence_search(
        nodes=len(rows),
        gains=gains.of_each,
        max_parents=limits.max_parents,
        is_allowed=lambda x, y: not excluded[x, y],
        deadline=search.deadline,
        related=gains.related,
    )
    latest: Parents = [set() for _ in range(len(rows))]
    try:
        for dag in dags:
            latest = dag
    finally:
        search.dag = limits.directed(latest)
    search.progress("first graph", 1, 1)
    return gains


def _search_complete(search: Search) -> None:
    """Search orders in rows without gaps, where the score is exact."""
    rows = search.rows
    _seed(search, rows.thinned(SEED_ROWS))
    search.progress("search", 0, 1)
    search.screen = search.screen_of(rows)
    for best in better_dags(rows, search.dag, search.screen, search.rng, search.deadline):
        search.dag = best.parents
        search.note(f"search {len(search.trace) + 1}", best.score, search.dag, is_accepted=True)
    search.progress("search", 1, 1)
    search.ended = "converged"


def _search_incomplete(search: Search) -> None:
    """Climb from the seed; in small problems from better starts, and once more from another."""
    gains = _seed(search, search.rows.thinned(SEED_ROWS))
    search.fit = search.judge.fit(search.dag)
    search.note("first graph", search.fit.score, search.dag, is_accepted=True)
    if search.table.rows < UNDILUTED_ROWS:
        search.wide = replace(gains, share=WIDE_SHARE)
    if len(search.dag) > RESTARTED_VARIABLES or search.table.rows >= UNDILUTED_ROWS:
        _climb(search)
        return
    search.progress("starts", 0, STARTS_OF_SEARCH)
    _take(search, "start 1", _free_start(search))
    _climb(search)
    search.progress("starts", 1, STARTS_OF_SEARCH)
    fit = _free_start(search)
    other = replace(search, dag=fit.dag, fit=fit, trace=[])
    if Class.of(fit.dag) != Class.of(search.dag):
        _polish(other)
    assert other.fit is not None
    if _take(search, "start 2", other.fit) >= _worth(search):
        _climb(search)


def _take(search: Search, what: str, fit: FittedStructure) -> float:
    """Go on from a structure if its exact score is higher; by how much it is, or is lower."""
    assert search.fit is not None
    rise = fit.score - search.fit.score
    search.note(what, fit.score, fit.dag, is_accepted=rise > LEAST_SCORE_RISE)
    if rise > LEAST_SCORE_RISE:
        search.fit = fit
        search.dag = fit.dag
    return rise


def _climb(search: Search) -> None:
    """Rounds and single moves until neither raises the exact score."""
    # What completions are drawn from, by turns once one leads to nothing: a wider network, or that
    # of the best so far.
    sources: list[Gains | None] = [None] if search.wide is None else [search.wide, None]
    worth = _worth(search)
    patience = FIRST_PATIENCE
    for done in range(MAX_COMPLETION_ROUNDS):
        search.progress("rounds", done, MAX_COMPLETION_ROUNDS, _forecast(search, done))
        rise = _round(search, done, sources[0])
        if rise >= worth:
            patience = PATIENCE
        elif rise:
            patience -= 1
        else:  # it led to the same class
            patience = 0
        if rise < worth:
            sources.reverse()
        if not patience:
            if _polish(search) < worth:
                search.ended = "converged"
                return
            patience = 1
    _polish(search)
    search.ended = "round limit"


def _free_start(search: Search) -> FittedStructure:
    """The structure of completions that owe nothing to the structure so far."""
    assert search.fit is not None
    (drawn,) = search.judge.draw(search.fit, 1, search.rng)
    free = complete_in_turn(search.rows, drawn, search.rng, search.deadline)
    empty = search.constraints.directed([set()] * len(search.rows))
    dag = _suggested(search, free, empty, search.screen_of(free))
    return search.judge.fit(dag, rows=free)


def _suggested(search: Search, rows: CodedRows, start: Dag, screen: Screen) -> Dag:
    """The best DAG for completed rows."""
    *_, best = better_dags(
        rows=rows,
        start=start,
        screen=screen,
        rng=search.rng,
        deadline=search.deadline,
        kicks=FEW_KICKS,
    )
    return best.parents


def _worth(search: Search) -> float:
    """The rise of the exact score that makes another round worth while."""
    return WORTH_A_ROUND * max(1.0, len(search.dag) / WORTH_OF_VARIABLES)


def _forecast(search: Search, done: int) -> str:
    """The score so far, and how long the rounds may take at most."""
    text = f"BIC {search.fit.score:,.1f}" if search.fit else ""
    if done and len(search.trace) > 1:
        pace = (search.trace[-1].seconds - search.trace[0].seconds) / done
        text += f", at most {pace * (MAX_COMPLETION_ROUNDS - done):,.0f} s left"
    return text


def _round(search: Search, done: int, wide: Gains | None) -> float:
    """Draw, search, judge: by how much the exact score rises, or would fall; zero for the same.

    Completions are drawn from the network so far or, given gains, from a wider one.
    """
    assert search.fit is not None
    drawn = _drawn(search, _source(search, search.fit, wide))
    search.deadline.check()
    rows = CodedRows.stacked(drawn)
    search.screen = search.screen or search.screen_of(drawn[0])
    dag = _suggested(search, rows, search.dag, search.screen)
    is_same = Class.of(dag) == Class.of(search.dag)
    fit = search.fit if is_same else search.judge.fit(dag, near=search.fit, rows=rows)
    return _take(search, f"round {done + 1}", fit)


def _source(search: Search, fit: FittedStructure, wide: Gains | None) -> FittedStructure:
    """What completions are drawn from: a fit or, given gains, a wider network."""
    if wide is None:
        return fit
    dag = add_gaining_arcs(fit.dag, wide, search.constraints)
    return search.judge.fit(dag, near=fit, least_rise=ENOUGH_TO_DRAW)


def _polish(search: Search) -> float:
    """Make the single moves that the exact judge accepts; by how much the score rises."""
    assert search.fit is not None
    assert search.screen is not None
    before = search.fit.score
    nodes = range(len(search.dag))
    candidates: list[Sequence[int]] = [nodes for _ in nodes]
    if len(nodes) > RESTARTED_VARIABLES:
        candidates = [search.screen.candidates(y, search.dag) for y in nodes]

    def completions(fit: FittedStructure) -> Sequence[CodedRows]:
        if search.drawn is not None and search.drawn[0] is fit:  # by the last round
            return search.drawn[1]
        return _drawn(search, fit)

    for fit in polish(
        judge=search.judge,
        fit=search.fit,
        limits=search.constraints,
        candidates=candidates,
        completions=completions,
        rejected=search.rejected,
    ):
        search.fit = fit
        search.dag = fit.dag
        search.note("moves", fit.score, fit.dag, is_accepted=True)
    return search.fit.score - before


def _drawn(search: Search, fit: FittedStructure) -> list[CodedRows]:
    """Completions of the rows: the fewer rows, the more."""
    number = FEW_ROWS_DRAWS if search.table.rows < FEW_ROWS else 1
    search.drawn = fit, search.judge.draw(fit, number, search.rng)
    return search.drawn[1]


def _bootstrap(search: Search, replicates: int | None) -> list[Replicate]:
    """What the search finds in replicates of the rows; nothing if it was cut short itself."""
    if replicates is None:
        replicates = REPLICATES if search.table.rows <= STRENGTH_ROWS else 0
    if search.ended in ("interrupted", "time limit") or not search.trace or not replicates:
        return []
    completions = [search.rows]
    if search.fit is not None:
        try:
            source = _source(search, search.fit, search.wide)
            completions = search.judge.draw(source, min(STRENGTH_DRAWS, replicates), search.rng)
        except (OutOfTimeError, OverBudgetError, KeyboardInterrupt):
            return []
    return bootstrap(
        completions=completions,
        dag=search.dag,
        screen=search.screen or search.screen_of(completions[0]),
        replicates=replicates,
        rng=search.rng,
        deadline=search.deadline,
        progress=search.progress,
    )


def _strengths(search: Search, replicates: Sequence[Replicate]) -> dict[Arc, Strength]:
    """The strength of each edge, by its names."""
    names = search.table.variables
    strength_of = strengths_of(replicates, search.dag, search.constraints)
    return {(names[x], names[y]): strength for (x, y), strength in strength_of.items()}


def _networks(
    search: Search, columns: Network, replicates: Sequence[Replicate]
) -> Iterator[Network]:
    """The networks of the replicates with CPTs; none where there are too few to say how sure.

    Parameters
    ----------
    columns
        The variables, in the order that the networks have them.
    """
    judge = search.judge
    names = search.table.variables
    if len(replicates) < FEW_REPLICATES:
        return
    for replicate in replicates:
        parents_of: dict[str, list[str]] = {}
        tables: dict[str, FloatArray] = {}
        for node, name in enumerate(names):
            parents = sorted(replicate.wider[node])
            parents_of[name] = [names[parent] for parent in parents]
            tables[name] = judge.normalised(replicate.counts(node), node, parents)
        structure = network_with_parents(columns, columns.variables, parents_of)
        # CPTs keep rules already; rows may be read by others later.
        yield structure.with_tables(tables).with_codes(columns.codes_of)


PAIRED_SEARCH = "greedy equivalence search, each step judged by the rows that show what it compares"


def _why(search: Search) -> str:
    """How the structure was searched for, in words."""
    if search.ended == "closed form":
        return PAIRED_SEARCH
    if not search.table.partially_observed:
        name = "BIC" if search.score.equivalent_size is None else "BDeu"
        return f"no cell is missing: search over orders for the best {name}, from a greedy start"
    text = PAIRED_SEARCH
    if rounds := search.trace[1:]:
        rises = sum(step.is_accepted for step in rounds)
        text += (
            f"; then {counted(len(rounds), 'step')} of search in rows whose missing cells were "
            f"drawn, of which {rises} raised the BIC of the observed cells"
        )
    if search.judge.graph is not None:
        text += "; how values go missing is part of the BIC where missing values decide on it"
    return text
