"""Estimands in words: plain text and LaTeX, from one reading of the plan.

The signs that estimands are written with: plain text, or LaTeX.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lacunet.estimands.terms import (
    Conditioned,
    Fraction,
    Inverted,
    NoSelfCensoring,
    Odds,
    Product,
    Propensity,
    Sample,
    Share,
    SumOut,
    Term,
    Widened,
)
from lacunet.model.nodes import Mechanism, quoted


@dataclass
class _Writer:
    """Writes one estimand; gathers the propensities it meets, each under its own label."""

    signs: Notation
    labels: dict[Propensity, tuple[Mechanism, int]] = field(default_factory=dict)

    def label(self, propensity: Propensity) -> str:
        if propensity not in self.labels:
            twins = sum(own[0] == propensity.mechanism for own in self.labels.values())
            self.labels[propensity] = (propensity.mechanism, twins)
        return self.signs.propensity(self.labels[propensity])


def estimand_text(term: Term) -> str:
    """The estimand in plain text, its propensities below it.

    Examples
    --------
    >>> from lacunet.estimands.terms import Fraction, Sample
    >>> print(estimand_text(Fraction(("Y",), ("X",), Sample((Mechanism("Y"),), ()))))
    P(Y | X) = P(Y | X, R[Y]=1)
    """
    lines = _lines(term, TEXT)
    return lines[0] if len(lines) == 1 else "\n  ".join([f"{lines[0]}, where", *lines[1:]])


def estimand_latex(term: Term) -> str:
    """The estimand in LaTeX, for an ``aligned`` block if it has several lines."""
    lines = _lines(term, LATEX)
    if len(lines) == 1:
        return lines[0]
    body = " \\\\\n".join(f"& {line}" for line in lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _lines(term: Term, signs: Notation) -> list[str]:
    writer = _Writer(signs)
    left = signs.probability(map(signs.name, term.target), map(signs.name, term.given))
    lines = [f"{left}{_relation(term, signs)}{_term(writer, term)}"]
    written: set[Propensity] = set()
    while more := [plan for plan in writer.labels if plan not in written]:
        for plan in more:
            lines.append(f"{writer.label(plan)} = {_propensity(writer, plan)}")
            written.add(plan)
    return lines


def _relation(term: Term, signs: Notation) -> str:
    if isinstance(term, Conditioned | Inverted):
        return signs.proportional
    if isinstance(term, Fraction):
        weighted = term.sample.weights
        exact = len(weighted) == len(term.sample.selected) and not term.given
        return " = " if exact or not weighted else signs.proportional
    return " = "


def _term(writer: _Writer, term: Term) -> str:
    match term:
        case Fraction():
            return _fraction(writer, term)
        case NoSelfCensoring():
            return _no_self_censoring(writer, term)
        case Product():
            return f"{_inner(writer, term.first)}{writer.signs.times}{_inner(writer, term.second)}"
        case Inverted():
            return f"{_inner(writer, term.first)} / {_inner(writer, term.second)}"
        case SumOut():
            gone = [name for name in term.term.target if name not in term.target]
            return f"{writer.signs.summed(gone)}{_inner(writer, term.term)}"
        case Conditioned() | Widened():
            return _inner(writer, term.term)


def _inner(writer: _Writer, term: Term) -> str:
    """A term inside another: in brackets, with what it is, if it is only proportional."""
    signs = writer.signs
    written = _term(writer, term)
    if _relation(term, signs) == " = " and not isinstance(term, NoSelfCensoring):
        return written
    left = signs.probability(map(signs.name, term.target), map(signs.name, term.given))
    return f"[{left}{_relation(term, signs)}{written}]"


def _conditions(signs: Notation, sample: Sample) -> list[str]:
    return [signs.shown(mechanism) for mechanism in sample.selected]


def _fraction(writer: _Writer, term: Fraction) -> str:
    signs = writer.signs
    names = [*map(signs.name, term.target)]
    given = [*map(signs.name, term.given)]
    conditions = _conditions(signs, term.sample)
    if not term.sample.weights:
        return signs.probability(names, [*given, *conditions])
    extra = _extra(term.sample, (*term.target, *term.given))
    free = _free(term.sample)
    inside = [*names, *given, *map(signs.name, extra), *conditions]
    inside += [signs.shown(mechanism, "") for mechanism in free]
    weights = [writer.label(weight) for weight in term.sample.weights]
    return signs.summed(extra, free) + signs.divided(signs.probability(inside, ()), weights)


def _extra(sample: Sample, scope: Sequence[str]) -> list[str]:
    """The variables that only the weights need, and are summed over."""
    names: dict[str, None] = {}
    for weight in sample.weights:
        names |= dict.fromkeys(name for name in weight.parents if name not in scope)
    return list(names)


def _free(sample: Sample) -> list[Mechanism]:
    """The mechanisms that the weights depend on and that are not selected on."""
    free: dict[Mechanism, None] = {}
    for weight in sample.weights:
        free |= dict.fromkeys(m for m in weight.free if m not in sample.selected)
    return list(free)


def _no_self_censoring(writer: _Writer, term: NoSelfCensoring) -> str:
    signs = writer.signs
    free = ", ".join(signs.shown(mechanism, "") for mechanism in term.free)
    scope = ", ".join(map(signs.name, term.scope))
    gone = [name for name in term.scope if name not in (*term.target, *term.given)]
    complete = [
        *map(signs.name, term.scope),
        *(signs.shown(mechanism) for mechanism in term.free),
        *_conditions(signs, term.sample),
    ]
    weights = [writer.label(weight) for weight in term.sample.weights]
    body = signs.divided(signs.probability(complete, ()), weights)
    words = f"the odds of the patterns of ({free}) over ({scope})"
    if signs.is_latex:
        return (
            f"{signs.summed(gone)}{body} \\sum_{{T}} \\prod_{{\\emptyset \\ne T' \\subseteq T}} "
            rf"\theta_{{T'}} \quad\text{{(T ranges over the subsets of }}{free}\text{{)}}"
        )
    return f"{signs.summed(gone)}{body} · Σ_T Π_{{T'⊆T}} θ_T', with θ {words}"


def _propensity(writer: _Writer, plan: Propensity) -> str:
    signs = writer.signs
    parents = [*map(signs.name, plan.parents)]
    if isinstance(plan, Odds):
        return _odds(writer, plan)
    free = [signs.shown(mechanism, "") for mechanism in plan.free]
    given = [*parents, *free, *_conditions(signs, plan.sample)]
    share = signs.probability([signs.shown(plan.mechanism)], given)
    return share + _weighted_by(writer, plan)


def _weighted_by(writer: _Writer, plan: Share) -> str:
    weights = [writer.label(weight) for weight in plan.sample.weights]
    if not weights:
        return ""
    factor = writer.signs.divided("1", weights)
    if writer.signs.is_latex:
        return rf"\text{{ in rows weighted by }}{factor}"
    return f" in rows weighted by {factor}"


def _odds(writer: _Writer, plan: Odds) -> str:
    signs = writer.signs
    inside = [*map(signs.name, plan.parents), *(signs.shown(k) for k in plan.known)]
    above = signs.probability([*inside, signs.shown(plan.mechanism, "=0")], ())
    gone = [name for name in plan.scope if name not in plan.parents]
    extra = _extra(plan.sample, plan.scope)
    gone += extra
    scope = [*map(signs.name, (*plan.scope, *extra)), *_conditions(signs, plan.sample)]
    weights = [writer.label(weight) for weight in plan.sample.weights]
    base = signs.divided(signs.probability(scope, ()), weights)
    others = signs.times.join(writer.label(other) for other in plan.others)
    at_zero = f"({others} at {signs.shown(plan.mechanism, '=0')})"
    if signs.is_latex:
        at_zero = rf"{others}\big|_{{{signs.shown(plan.mechanism, '=0')}}}"
        return rf"1 / \left(1 + \frac{{{above}}}{{{signs.summed(gone)}{base} {at_zero}}}\right)"
    return f"1 / (1 + {above} / [{signs.summed(gone)}{base} · {at_zero}])"


_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


@dataclass(frozen=True)
class Notation:
    """The signs of plain text, or of LaTeX."""

    is_latex: bool

    def name(self, variable: str) -> str:
        """A variable."""
        return rf"\text{{{variable.translate(_SPECIAL)}}}" if self.is_latex else quoted(variable)

    def shown(self, mechanism: Mechanism, value: str = "=1") -> str:
        """A mechanism, at 1 if nothing else is said."""
        if self.is_latex:
            return f"R_{{{self.name(mechanism.variable)}}}{value}"
        return f"{mechanism}{value}"

    def propensity(self, label: tuple[Mechanism, int]) -> str:
        """The sign of a propensity; dashes tell those of one mechanism apart."""
        dashes = "'" * label[1]
        if self.is_latex:
            return rf"\pi{dashes}_{{{self.name(label[0].variable)}}}"
        return f"π{dashes}[{quoted(label[0].variable)}]"

    def probability(self, left: Iterable[str], right: Iterable[str]) -> str:
        """P(left | right)."""
        bar = r" \mid " if self.is_latex else " | "
        above, below = ", ".join(left), ", ".join(right)
        return f"P({above}{bar}{below})" if below else f"P({above})"

    def summed(self, names: Sequence[str], free: Sequence[Mechanism] = ()) -> str:
        """The sum over some variables and free mechanisms."""
        if not names and not free:
            return ""
        listed = ", ".join([*map(self.name, names), *(self.shown(m, "") for m in free)])
        return rf"\sum_{{{listed}}} " if self.is_latex else f"Σ_{{{listed}}} "

    def divided(self, above: str, below: Sequence[str]) -> str:
        """A quotient by a product."""
        if not below:
            return above
        if self.is_latex:
            return rf"\frac{{{above}}}{{{' '.join(below)}}}"
        return f"{above} / ({' '.join(below)})" if len(below) > 1 else f"{above} / {below[0]}"

    @property
    def proportional(self) -> str:
        """The sign for "proportional to"."""
        return r" \propto " if self.is_latex else " ∝ "

    @property
    def times(self) -> str:
        """The sign between factors."""
        return r" \, " if self.is_latex else " · "


TEXT = Notation(is_latex=False)
LATEX = Notation(is_latex=True)
