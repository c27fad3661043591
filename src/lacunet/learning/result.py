"""What was learned, and what it rests on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.data.donors import Donors
from lacunet.data.table import EncodedTable
from lacunet.errors import ByName
from lacunet.inference.answer import NO_INTERVALS
from lacunet.learning.alternatives import Alternatives
from lacunet.learning.family_reports import GRAVEST_FIRST, FamilyReport, Warned, assumed_by
from lacunet.learning.interval_recipes import Uncertainty
from lacunet.learning.plan import Ended, MethodError
from lacunet.learning.pseudo_counts import UsedPseudoCounts
from lacunet.network.arguments import clear_arguments
from lacunet.network.askable import Askable
from lacunet.network.cpt import Cpt
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import (
    read_network,
    read_with_text,
    write_network,
    write_with_learned,
)
from lacunet.network.network import FloatArray, Network
from lacunet.network.waves import as_of_any_wave, copied_from
from lacunet.text import counted

if TYPE_CHECKING:
    from lacunet.ask.worst_case import WorstCase
    from lacunet.learning.imputation_model import ImputationModel
    from lacunet.learning.uncertainty.shape_parameters import ShapeParameters
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.network.formats.files import AnyNetwork
    from lacunet.show.pages.notebook import Page
    from lacunet.show.results.cpt_tables import EstimateTable

WORST = 3  # places that are named of each kind of warning
MOST_SHOWN = 2**21  # characters of a page that a notebook shows unasked
KEEP_ALL = (".json", ".json.gz")  # the files that keep all that a result knows
INNER_ATTRIBUTES = frozenset(
    ["beside", "donors", "search_falls_short", "total", "warnings_by_kind"]
)


@clear_arguments
@dataclass(frozen=True, repr=False, eq=False)
class Result(Askable):
    """What was learned, and what it rests on.

    ``network`` has the learned CPTs; ``families`` says of each variable's CPT which estimand
    it is, from how many rows, how much of it fell back and on what. ``total`` is the weight of
    the rows, scaled to the number that they are worth. ``pseudo_counts`` is the number that
    was given, or a mapping: those of every variable's cells, with a sentence on them.
    ``ended`` tells how an iterative method ended, None for a closed form. ``why`` is the reason for
    the method, where the method was chosen and not given, and what pseudo-counts are like, where
    they were learned. ``mechanisms`` are the CPTs of the mechanisms, where a missingness graph was
    given; ``uncertainty`` is None unless intervals were asked for. ``beside`` names what was given
    with the rows, such as ``weight`` and ``cluster``, with its columns, and ``latent`` variables.
    ``alternatives`` has what was learned with each number of latent states, where `Data.latent`
    gives numbers. ``donors`` are rows as they were observed, from which `impute` draws the missing
    numbers of columns that the network cuts; None where it cuts none, or none were to be kept.

    Printed, it has a line for each CPT:

    ===========  ==================================================================================
    rows shown   rows in which the variable and all its parents are observed
    effective    for the weakest CPT row, where known: "370 of 445" means that 445 rows show its
                 parents' states, and that it is as precise as if learned from 370 complete rows
    fell back    share of the rows' weight whose group had no data of its own: the ungrouped
                 estimate was used for them
    unsupported  configurations of the parents that no row shows together with the variable: no
                 data are behind the CPT row, whatever numbers it holds
    ===========  ==================================================================================
    """

    network: Network
    families: Mapping[str, FamilyReport]
    method: str
    rows: int
    total: float
    pseudo_counts: UsedPseudoCounts
    missing: Mapping[str, int]
    notes: tuple[str, ...]
    ended: Ended | None = None
    why: str = ""
    mechanisms: Mapping[str, Cpt] = field(default_factory=dict)
    uncertainty: Uncertainty | None = None
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    alternatives: Alternatives | None = None
    donors: Donors | None = None
    # Some of the rows, for `sample(missing=True)`; they are written to no file.
    _observed: EncodedTable | None = field(default=None, metadata={"kept": False})

    def __post_init__(self) -> None:
        object.__setattr__(self, "families", ByName(self.families))

    def __dir__(self) -> list[str]:
        """What a result is asked; what the package itself needs of it is not completed."""
        return [name for name in super().__dir__() if name not in INNER_ATTRIBUTES]

    def __repr__(self) -> str:
        warnings = counted(len(self.warnings), "warning")
        cpts = counted(len(self.network.variables), "CPT")
        return f"<Result: {cpts} by {self.method} from {counted(self.rows, 'row')}, {warnings}>"

    def __str__(self) -> str:
        from lacunet.show.results.result_text import result_as_text

        return result_as_text(self, 0.95 if self.uncertainty else None, with_cpts=True)

    if not TYPE_CHECKING:  # type checkers know the names there are

        def __getitem__(self, key: object) -> object:
            raise TypeError(
                f"'Result' object is not subscriptable\nHint: write result.cpt({key!r})."
            )

    def _repr_html_(self) -> str:
        page = self.show()
        if len(page.text) <= MOST_SHOWN:
            return page._repr_html_()
        listed = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings_by_kind)
        return f"<p>{escape(repr(self))}</p><ul>{listed}</ul>{self.network._repr_html_()}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes, such as on ignored columns, and the warnings of all families."""
        of_families = (
            f"{name}: {warning}"
            for name, report in self.families.items()
            for warning in report.warnings
        )
        return (*self.notes, *of_families)

    @property
    def warnings_by_kind(self) -> tuple[str, ...]:
        """One line for each kind of warning of CPTs, the gravest first, with the worst places.

        What is the same of CPTs that are tied is said of the first of them.
        """
        head_of = self.network.head_of
        tied_to: dict[tuple[str, str], list[str]] = {}
        warned: list[tuple[str, str, list[str]]] = []
        for name, report in self.families.items():
            for warning in report.warnings:
                same = tied_to.get((head_of[name], as_of_any_wave(warning, name)))
                if same is not None:
                    same.append(name)
                    continue
                same = tied_to[head_of[name], as_of_any_wave(warning, name)] = []
                warned.append((name, warning, same))
        places: dict[str, list[tuple[str, str]]] = {}
        for name, warning, same in warned:
            kind = warning.kind if isinstance(warning, Warned) else warning
            label = f"{name} and {len(same):,} tied to it" if same else name
            places.setdefault(kind, []).append((label, warning))
        rank_of = {kind: rank for rank, kind in enumerate(GRAVEST_FIRST)}
        in_order = sorted(places, key=lambda kind: rank_of.get(kind, 0.5))
        return tuple(_in_one_line(kind, places[kind]) for kind in in_order)

    @property
    def assumption(self) -> str:
        """What the method assumes of missing values, in a few words; "" if no value is missing.

        A missingness graph whose mechanisms depend on observed variables alone says that values
        are missing at random, unless rows are a selection by it; so do variables that separate
        values from their being missing, and without any, values are missing completely at random.
        Where time left no room for an EM step, it is what the closed form assumes that stands.
        """
        stands = "" if self.ended is None else self.ended.stands
        return assumed_by(
            stands or self.method,
            [name for name in self.network.variables if self.missing[name]],
            (name for cpt in self.mechanisms.values() for name in cpt.parents),
            self.families.values(),
            "" if self.network.mechanisms is None else self.network.mechanisms.graph,
        )

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The edges of the network, each as (parent, child)."""
        return self.network.edges

    def parameters(self, variable: str, level: float = 0.95) -> ShapeParameters:
        """The parameters of a CPT that is no full table: links, odds ratios.

        Parameters
        ----------
        variable
            One with a shape, as `learn`'s ``shapes=`` names it.
        level
            That of the intervals, which are there if the result has any, and with them how the BIC
            of a full table compares.

        Examples
        --------
        >>> from lacunet import example, learn, simulate
        >>> cancer = example("cancer")
        >>> rows = simulate(cancer, 2000, rng=1).to_frame()
        >>> result = learn(cancer.with_tables(None), rows, shapes={"Cancer": "logistic"})
        >>> result.parameters("Cancer").shape
        'logistic'
        """
        from lacunet.learning.uncertainty.shape_parameters import shape_parameters

        if self.network.known(variable) not in self.network.shaped_of:
            raise MethodError(
                f"the CPT of {variable!r} is a full table, whose parameters are its entries.",
                "result.cpt(variable) has them; learn(..., shapes={...}) gives a CPT a shape.",
            )
        if self.uncertainty is None:
            return shape_parameters(self.network, variable, None, level)
        gain = self.uncertainty.bic_gains.get(variable)
        return shape_parameters(self.network, variable, self.uncertainty.covariance, level, gain)

    def unroll(self, waves: int) -> Result:
        """The result over so many waves of a panel, to forecast: later ones are as the last.

        Answers have intervals where the result has any.

        Examples
        --------
        >>> from lacunet import Data, learn
        >>> rows = {"who": [1, 1, 1, 2, 2, 2], "wave": [0, 1, 2, 0, 1, 2], "H": list("aabbba")}
        >>> result = learn("H[t-1] -> H[t]", Data(rows, unit="who", time="wave"))
        >>> print(result.unroll(6).query("H[5] | H[2]=a"))
        P(H[5] | H[2]=a)
             a       b
        0.5000  0.5000
        No intervals: learn with intervals=True (--intervals).
        """
        network = self.network.unroll(waves)
        like = copied_from(self.network, network)
        families = dict(self.families)
        for new, old in like.items():
            families[new] = replace(families[old], variable=new, parents=network.parents(new))
        uncertainty = self.uncertainty and self.uncertainty.unrolled(waves)
        return replace(
            self,
            network=network,
            families=families,
            missing={**self.missing, **dict.fromkeys(like, self.rows)},
            uncertainty=uncertainty,
        )

    def cpt(self, variable: str) -> Cpt:
        """The learned CPT of a variable; printed, it has intervals where the result has any."""
        cpt = self.network.cpt(variable)
        if self.uncertainty is None:
            return cpt
        is_credible = self.uncertainty.is_credible
        spread = partial(self.interval, variable)
        return replace(cpt, level=0.95, spread=spread, is_credible=is_credible)

    def interval(self, variable: str, level: float = 0.95) -> FloatArray:
        """The interval of every entry of a CPT: its axes, then low and high.

        Intervals are made from the rows alone, around the estimate without the
        pseudo-counts. The estimate in the CPT has these, so it may lie near an end.

        Parameters
        ----------
        variable
            The variable whose CPT it is.
        level
            The probability that an interval covers the true value: 0.95, or 95 for per cent.

        Raises
        ------
        MethodError
            The result was learned without ``intervals=True``.

        Examples
        --------
        >>> from lacunet import learn
        >>> rows = {"Ill": ["no"] * 60 + ["yes"] * 40}
        >>> result = learn("Ill", rows, "listwise", pseudo_counts=0, intervals=True)
        >>> result.interval("Ill").round(2).tolist()
        [[0.5, 0.69], [0.31, 0.5]]
        """
        return uncertainty_of(self).cpt(self.network.known(variable)).interval(level)

    def standard_error(self, variable: str) -> FloatArray:
        """The standard error of every entry of a CPT."""
        return uncertainty_of(self).cpt(self.network.known(variable)).standard_error

    def bounds(self, variable: str) -> WorstCase:
        """The lowest and highest value of every CPT entry, whatever the missing values are.

        They rest on no assumption about why values are missing; pseudo-counts have no part in them.
        The rows are a sample: `interval` of what is returned allows for that, as if they were
        independent. Those of a survey's clusters are from `lacunet.worst_case`. A cell that is
        one of several states counts as missing here; `lacunet.worst_case` uses it.
        """
        from lacunet.ask.worst_case import bounds
        from lacunet.counts.distinct_rows import Rows

        counts = self.families[self.network.known(variable)].counts
        return bounds(Rows.of(counts), self.network, (variable,), self.network.parents(variable))

    @property
    def search_falls_short(self) -> bool:
        """Whether intervals of answers count the search for the edges, but too little of it."""
        from lacunet.learning.uncertainty.after_search import coverage_falls_short

        return coverage_falls_short(self.network, self.rows, self.missing)

    def show(self, beside: Result | AnyNetwork | None = None) -> Page:
        """The page of the result, which a notebook shows: click a state, and all beliefs move.

        Parameters
        ----------
        beside
            A second result, or a network, over the same variables: both are then shown in one
            page, bar by bar.
        """
        from lacunet.show.results.show_result import result_page

        if isinstance(beside, str) and beside in self.network.variables:
            raise MethodError(
                f"{beside!r} is a variable, and a page shows all of them.",
                f"result.cpt({beside!r}) is its CPT; result.show() is the page.",
            )
        return result_page(self, beside)

    def report(
        self,
        path: str | os.PathLike[str],
        data: Any = None,
        *,
        level: float | None = None,
        missingness: MissingnessGraph | str | None = None,
    ) -> None:
        """Write the page of the result to a file, which answers questions without a server.

        Parameters
        ----------
        data
            The data that were learned from. With them the page also says what is missing
            together, and where complete rows would have misled.
        level
            The level of the intervals, where the result has any; 0.95 if none is given.
        missingness
            How values go missing: a graph, its text or a file's path. Its mechanisms are drawn.
        """
        from lacunet.show.results.show_result import write_report

        write_report(self, path, data, level=level, missingness=missingness)

    def table(self, variable: str, level: float = 0.95) -> EstimateTable:
        """The CPT of a variable for a paper: estimate, interval, rows, effective size.

        The table prints as text and has ``to_frame``, ``to_csv``, ``to_latex`` and
        ``to_markdown``.

        Parameters
        ----------
        level
            The level of the intervals; a result without intervals has none in the table.

        Examples
        --------
        >>> from lacunet import learn
        >>> coin = Network({"Coin": ["head", "tail"]}, {})
        >>> rows = {"Coin": ["head", "tail", None, "tail", "tail"]}
        >>> print(learn(coin, rows, "direct-mcar", pseudo_counts=0).table("Coin").to_markdown())
        | Coin | estimate | rows |
        | --- | ---: | ---: |
        | head | 0.250 | 4 |
        | tail | 0.750 | 4 |
        """
        from lacunet.show.results.cpt_tables import cpt_table

        return cpt_table(self, variable, level)

    def methods_text(self, level: float = 0.95) -> str:
        """How the result was made, in sentences for a paper, with the citations at the end.

        Everything said is taken from the result: the data it saw and how they were read (cuts,
        codes, questions that were not asked), the method that really ran, how it ended, what fell
        back and what rests on no data.

        Parameters
        ----------
        level
            The level of the intervals that the paper gives, where the result has any.
        """
        from lacunet.show.results.methods_text import methods_text

        return methods_text(self, level)

    def write(
        self, path: str | os.PathLike[str], *, rename: bool = False, donors: bool = True
    ) -> None:
        """Write all of it to a file, which `read_result` reads.

        A ``.json`` (or ``.json.gz``) keeps everything: network, support, mechanisms, the reports of
        all families with their counts, and what intervals need. It is a network's file as well.
        Any other format keeps the network and warns of what is left out.

        The file holds counts of rows, also small ones, from which single people may be recognised.
        Where the network cuts columns of numbers it also holds `donors`: rows with all their cells,
        as they were observed, at most 200 of each interval. Where rows must not be disclosed, give
        ``donors=False`` here, or learn with ``donors=0``; where counts must not be either, write
        the network alone: ``result.network.write``.

        ``rename`` is as in `Network.write`.
        """
        from lacunet.learning.result_json import as_json

        if self.uncertainty is None and not os.fspath(path).lower().endswith(KEEP_ALL):
            write_network(self.network, path, rename=rename)
            return
        kept = [f.name for f in fields(self) if f.metadata.get("kept", True)]
        values = {name: getattr(self, name) for name in kept if name != "network"}
        if not donors:
            values["donors"] = None
        write_with_learned(self.network, as_json(self.network, values), path, rename=rename)


def uncertainty_of(result: Result) -> Uncertainty:
    """How sure the CPTs are, if that was asked for."""
    if result.uncertainty is None:
        raise MethodError(*NO_INTERVALS)
    return result.uncertainty


def _in_one_line(kind: str, places: Sequence[tuple[str, str]]) -> str:
    """The warnings of one kind, each with its variable."""
    if len(places) == 1:
        ((name, warning),) = places
        return f"{name}: {warning}"
    worst = sorted(places, key=lambda pair: -getattr(pair[1], "weight", 0.0))[:WORST]
    named = [f"{name} ({w.detail})" if isinstance(w, Warned) else name for name, w in worst]
    label = "worst " if len(places) > WORST else ""
    return f"{kind}: {len(places):,} CPTs, {label}{', '.join(named)}"


@clear_arguments
def read_result(path: str | os.PathLike[str]) -> Any:
    """Read a result of learning that `Result.write` or ``lacunet learn -o FILE.json`` has written.

    Parameters
    ----------
    path
        The file, which ends with ``.json`` or ``.json.gz``.

    Returns
    -------
    The result, equal to the one that was written; a network that was learned for imputation, where
    the file has one.

    Raises
    ------
    FormatError
        The file holds a network alone, or was changed after it was written.
    """
    name = os.fspath(path)
    learned = read_completing(path) if name.lower().endswith(KEEP_ALL) else None
    if learned is None or isinstance(learned, Network):
        raise FormatError(
            f"{name}: the file holds no result of learning.",
            "read_result reads what result.write wrote (.json), and lacunet learn -o FILE.json.",
        )
    return learned


def read_learned(path: str | os.PathLike[str]) -> Result | Network:
    """The result that a file keeps, or the network where it keeps no more."""
    learned = read_completing(path)
    if not isinstance(learned, Result | Network):
        raise FormatError(
            f"{os.fspath(path)}: a network for imputation answers no queries.",
            "it completes rows: lacunet impute; learn a network for its structure to ask it.",
        )
    return learned


def read_completing(path: str | os.PathLike[str]) -> Result | ImputationModel | Network:
    """What a file keeps that completes rows: a result, a network for imputation, or a network."""
    from lacunet.learning.result_json import from_json

    name = os.fspath(path)
    if not name.lower().endswith(KEEP_ALL) or not os.path.exists(name):
        return read_network(path)
    network, text = read_with_text(path)
    known = from_json(name, text)
    if known is None:
        return network
    try:
        if "dense" in known:
            from lacunet.learning.imputation_model import ImputationModel

            model = ImputationModel(network, **known)
            model.check()
            return model
        result = Result(network, **known)
        _check(result)
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise FormatError.unsound(name, "result", error) from None
    return result


def _check(result: Result) -> None:
    """Refuse values from a file that are not what a result holds, or do not fit its network."""
    repr(result)  # counts its rows and notes
    network, uncertainty = result.network, result.uncertainty
    if list(result.families) != list(network.variables):
        raise TypeError("the reports do not fit the network")
    for name, report in result.families.items():
        shape = network.shape(network.family(name))
        sizes = np.empty(shape) if uncertainty is None else uncertainty.spread_of[name].sizes
        if report.counts.cardinalities != shape or sizes.shape != shape:
            raise TypeError(f"the report on {name!r} does not fit its CPT")
    if result.donors is not None:
        result.donors.check(network)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while learning; ``result`` is the best so far."""

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted; the best so far is in the exception's `result`")
        self.result = result
