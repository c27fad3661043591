"""The symbols that estimands are written with: plain text, LaTeX or MathML.

A formula is written once, by the terms themselves, in the words of a `Notation`; `PLAIN_TEXT`,
`LATEX` and `MATHML` turn these words into what people type, typeset, or see in a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from lacunet.network.nodes import Mechanism, quoted

LONG_LIST = 6  # variables after the bar or under a sum; of more only the number is told
# of a longer list a page shows so many
LONG_IN_PAGES = 8
KEPT_IN_PAGES = 3
_GREEK = {"pi": "π", "theta": "θ"}
SIGNS_IN_TEXT = {  # what LaTeX takes for commands, and what its usual fonts do not have in place
    **{sign: f"\\{sign}" for sign in "#$%&_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
}
_TRANSLATION = {ord(sign): words for sign, words in SIGNS_IN_TEXT.items()}


class Notation:
    """Plain text, and what the notations have in common."""

    times = " "
    equal = " = "
    proportional = " ∝ "
    bar = " | "
    law, intervention = "P", "do"
    prime = "'"
    pattern, smaller_pattern = "T", "U"

    def name(self, variable: str, primes: int = 0) -> str:
        """A variable; primes tell one that a sum runs over from its namesake outside."""
        return quoted(variable) + "'" * primes

    def words(self, text: str) -> str:
        """Words inside a formula."""
        return text

    def with_commas(self, parts: Iterable[str]) -> str:
        """Parts with commas between them."""
        return ", ".join(parts)

    def shown(self, mechanism: Mechanism, value: str = "=1") -> str:
        """A mechanism, at 1 if nothing else is said."""
        return f"{mechanism}{value}"

    def labelled(self, letter: str, inside: str, dashes: int = 0) -> str:
        """A named part of a formula, such as a propensity; dashes tell namesakes apart."""
        return f"{_GREEK[letter]}{chr(39) * dashes}[{inside}]"

    def done(self, names: Sequence[str]) -> str:
        """An intervention, after the bar."""
        return f"{self.intervention}{self.parens(self.with_commas(names))}"

    def probability(self, left: Iterable[str], right: Iterable[str] = ()) -> str:
        """P(left | right)."""
        above, below = self.with_commas(left), self.with_commas(right)
        return f"{self.law}{self.parens(f'{above}{self.bar}{below}' if below else above)}"

    def summed(self, listed: Sequence[str]) -> str:
        """The sum over what is listed, before what is summed; nothing if there is nothing."""
        return f"sum over {self.with_commas(listed)} of " if listed else ""

    def parens(self, inside: str) -> str:
        """A part of a formula in parentheses."""
        return f"({inside})"

    def bracketed(self, inside: str) -> str:
        """A part of a formula in brackets."""
        return f"[{inside}]"

    def divided(self, above: str, below: Sequence[str]) -> str:
        """A quotient by a product."""
        if not below:
            return above
        if len(below) > 1:
            return f"{above} / ({' '.join(below)})"
        return f"{above} / {below[0]}"

    def for_any(self, written: str, names: Sequence[str]) -> str:
        """A formula that holds for any value of some variables."""
        return f"{written}{self.words(' for any value of ')}{self.with_commas(names)}"

    def from_odds(self, above: str, total: str, others: str, hidden: str) -> str:
        """One over one plus the odds, whose denominator has some factors at R = 0."""
        return f"1 / (1 + {above} / [{total} · ({others} at {hidden})])"

    def pattern_odds(self, scope: str, free: str, complete: str, smaller: str) -> str:
        """The definition of the odds of a missingness pattern T."""
        return (
            f"P(({scope}) without T, R[T]=0, R[not T]=1) / (the sum over the values of T of "
            f"{complete} · product of {smaller} over the nonempty U inside T), for the nonempty "
            f"subsets T of ({free}), the smallest first"
        )

    def pattern_product(self, complete: str, label: str, smaller: str, free: str = "") -> str:  # noqa: ARG002
        """What complete rows say, times the odds of one pattern, or of all those of ``free``."""
        if not free:
            return f"{complete} · product of {label} over the nonempty sets T of what is missing"
        return (
            f"{complete} · (sum over the subsets S of ({free}) of the product of {label} over the "
            "nonempty T within S)"
        )

    def highest_posterior(self, probability: str) -> str:
        """What EM estimates."""
        return f"{probability} of highest posterior given all rows (EM)"

    def block(self, lines: Sequence[str]) -> str:
        """A formula and, below it, the lines that define its parts."""
        if len(lines) > 1:
            return "\n  ".join([f"{lines[0]}, where", *lines[1:]])
        return lines[0]


class _Latex(Notation):
    times = r" \, "
    proportional = r" \propto "
    bar = r" \mid "
    intervention = r"\mathrm{do}"
    smaller_pattern = "T'"

    def name(self, variable: str, primes: int = 0) -> str:
        return rf"\text{{{variable.translate(_TRANSLATION)}}}" + "'" * primes

    def words(self, text: str) -> str:
        return rf"\text{{{text}}}"

    def shown(self, mechanism: Mechanism, value: str = "=1") -> str:
        return f"R_{{{self.name(mechanism.variable)}}}{value}"

    def labelled(self, letter: str, inside: str, dashes: int = 0) -> str:
        return rf"\{letter}{chr(39) * dashes}_{{{inside}}}"

    def summed(self, listed: Sequence[str]) -> str:
        return rf"\sum_{{{self.with_commas(listed)}}} " if listed else ""

    def divided(self, above: str, below: Sequence[str]) -> str:
        return rf"\frac{{{above}}}{{{' '.join(below)}}}" if below else above

    def from_odds(self, above: str, total: str, others: str, hidden: str) -> str:
        below = rf"{total} {others}\big|_{{{hidden}}}"
        return rf"1 / \left(1 + \frac{{{above}}}{{{below}}}\right)"

    def pattern_odds(self, scope: str, free: str, complete: str, smaller: str) -> str:
        return (
            rf"\frac{{P(({scope}) \setminus T, R_T=0, R_{{-T}}=1)}}{{\sum_T "
            rf"{complete} \prod_{{\emptyset \ne T' \subsetneq T}} {smaller}}}"
            rf" \quad\text{{for the nonempty }} T \subseteq \{{{free}\}}"
        )

    def pattern_product(self, complete: str, label: str, smaller: str, free: str = "") -> str:  # noqa: ARG002
        every = r" \sum_T" if free else ""
        return rf"{complete}{every} \prod_{{\emptyset \ne T' \subseteq T}} {smaller}"

    def highest_posterior(self, probability: str) -> str:
        return rf"\arg\max_\theta P(\theta \mid D_\mathrm{{observed}}), \ {probability}"

    def block(self, lines: Sequence[str]) -> str:
        if len(lines) == 1:
            return lines[0]
        body = " \\\\\n".join(f"& {line}" for line in lines)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


class _MathMl(Notation):
    times = '<mspace width="0.17em"/>'
    equal = "<mo>=</mo>"
    proportional = "<mo>∝</mo>"
    bar = "<mo>∣</mo>"
    law, intervention = "<mi>P</mi>", "<mi>do</mi>"
    prime = "<mo>′</mo>"
    pattern = "<mi>T</mi>"
    smaller_pattern = "<msup><mi>T</mi><mo>′</mo></msup>"

    def name(self, variable: str, primes: int = 0) -> str:
        text = f"<mtext>{_kept(variable)}</mtext>"
        return f"<msup>{text}<mo>{'′' * primes}</mo></msup>" if primes else text

    def words(self, text: str) -> str:
        return f"<mtext>{_kept(text)}</mtext>"

    def with_commas(self, parts: Iterable[str]) -> str:
        every = list(parts)
        if len(every) > LONG_IN_PAGES:
            rest = len(every) - KEPT_IN_PAGES
            every = [*every[:KEPT_IN_PAGES], self.words(f"and {rest} more")]
        return "<mo>,</mo>".join(every)

    def shown(self, mechanism: Mechanism, value: str = "=1") -> str:
        sign = f"<mo>=</mo><mn>{value[1:]}</mn>" if value else ""
        return f"<msub><mi>R</mi>{self.name(mechanism.variable)}</msub>{sign}"

    def labelled(self, letter: str, inside: str, dashes: int = 0) -> str:
        base = f"<mi>{_GREEK[letter]}</mi>"
        if dashes:
            base = f"<msup>{base}<mo>{'′' * dashes}</mo></msup>"
        return f"<msub>{base}<mrow>{inside}</mrow></msub>"

    def parens(self, inside: str) -> str:
        return f'<mo stretchy="false">(</mo>{inside}<mo stretchy="false">)</mo>'

    def summed(self, listed: Sequence[str]) -> str:
        return _under("∑", self.with_commas(listed)) if listed else ""

    def bracketed(self, inside: str) -> str:
        return f'<mo stretchy="false">[</mo>{inside}<mo stretchy="false">]</mo>'

    def divided(self, above: str, below: Sequence[str]) -> str:
        above = f"<mn>{above}</mn>" if above == "1" else above
        parts = f"<mrow>{above}</mrow><mrow>{''.join(below)}</mrow>"
        return f"<mfrac>{parts}</mfrac>" if below else above

    def from_odds(self, above: str, total: str, others: str, hidden: str) -> str:
        bar = f"<msub><mo>|</mo><mrow>{hidden}</mrow></msub>"
        odds = self.divided(above, [total, others, bar])
        return self.divided("1", ["<mn>1</mn><mo>+</mo>", odds])

    def pattern_odds(self, scope: str, free: str, complete: str, smaller: str) -> str:
        shown = "<mo>,</mo><msub><mi>R</mi><mi>T</mi></msub><mo>=</mo><mn>0</mn><mo>,</mo>"
        shown += "<msub><mi>R</mi><mrow><mo>−</mo><mi>T</mi></mrow></msub><mo>=</mo><mn>1</mn>"
        above = f"<mi>P</mi>{self.parens(f'{self.parens(scope)}<mo>∖</mo><mi>T</mi>{shown}')}"
        below = f"{_under('∑', '<mi>T</mi>')}{complete}{_under('∏', _inside('⊊'))}{smaller}"
        where = (
            f"{self.words('  for the nonempty ')}<mi>T</mi><mo>⊆</mo><mo>{{</mo>{free}<mo>}}</mo>"
        )
        return self.divided(above, [below]) + where

    def pattern_product(self, complete: str, label: str, smaller: str, free: str = "") -> str:  # noqa: ARG002
        every = _under("∑", "<mi>T</mi>") if free else ""
        return f"{complete}{every}{_under('∏', _inside('⊆'))}{smaller}"

    def highest_posterior(self, probability: str) -> str:
        given = "<mi>θ</mi><mo>∣</mo><msub><mi>D</mi><mi>observed</mi></msub>"
        most = f"<munder><mi>arg max</mi><mi>θ</mi></munder><mi>P</mi>{self.parens(given)}"
        return f"{most}<mo>,</mo><mspace width='0.33em'/>{probability}"

    def block(self, lines: Sequence[str]) -> str:
        rows = "".join(f"<mtr><mtd>{line}</mtd></mtr>" for line in lines)
        inside = f'<mtable columnalign="left">{rows}</mtable>' if len(lines) > 1 else lines[0]
        return f'<math display="block">{inside}</math>'


def _under(sign: str, below: str) -> str:
    return f'<munder><mo movablelimits="false">{sign}</mo><mrow>{below}</mrow></munder>'


def _inside(sign: str) -> str:
    return f"<mi>∅</mi><mo>≠</mo>{_MathMl.smaller_pattern}<mo>{sign}</mo><mi>T</mi>"


def _kept(text: str) -> str:
    """MathML drops spaces at the ends of a text; these stay."""
    return re.sub(r"^ +| +\Z", lambda spaces: "\u00a0" * len(spaces[0]), escape(text))


PLAIN_TEXT = Notation()
LATEX: Notation = _Latex()
MATHML: Notation = _MathMl()


class Readable:
    """What has an estimand can be read: in plain text, in LaTeX and in MathML."""

    def written(self, notation: Notation) -> str:
        """The estimand in some notation."""
        raise NotImplementedError

    @property
    def estimand(self) -> str:
        """What is estimated, in plain text."""
        return self.written(PLAIN_TEXT)

    @property
    def latex(self) -> str:
        """What is estimated, in LaTeX."""
        return self.written(LATEX)

    @property
    def mathml(self) -> str:
        """What is estimated, in MathML."""
        return self.written(MATHML)
