"""The symbols that estimands are written with: plain text, or LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lacunet.model.nodes import Mechanism, quoted

LONG_LIST = 6  # variables after the bar or under a sum; of more only the number is told
_GREEK = {"pi": "π", "theta": "θ"}
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


@dataclass(frozen=True)
class Notation:
    """The symbols of plain text, or of LaTeX."""

    is_latex: bool

    def name(self, variable: str) -> str:
        """A variable."""
        return rf"\text{{{variable.translate(_SPECIAL)}}}" if self.is_latex else quoted(variable)

    def names(self, variables: Sequence[str]) -> list[str]:
        """Variables after the bar or under a sum; of a long list their number."""
        if len(variables) <= LONG_LIST:
            return [*map(self.name, variables)]
        words = f"{len(variables)} variables"
        return [rf"\text{{{words}}}" if self.is_latex else words]

    def shown(self, mechanism: Mechanism, value: str = "=1") -> str:
        """A mechanism, at 1 if nothing else is said."""
        if self.is_latex:
            return f"R_{{{self.name(mechanism.variable)}}}{value}"
        return f"{mechanism}{value}"

    def labelled(self, letter: str, inside: str, dashes: int = 0) -> str:
        """A named part of a formula, such as a propensity; dashes tell namesakes apart."""
        primes = "'" * dashes
        if self.is_latex:
            return rf"\{letter}{primes}_{{{inside}}}"
        return f"{_GREEK[letter]}{primes}[{inside}]"

    def probability(self, left: Iterable[str], right: Iterable[str] = ()) -> str:
        """P(left | right)."""
        bar = r" \mid " if self.is_latex else " | "
        above, below = ", ".join(left), ", ".join(right)
        return f"P({above}{bar}{below})" if below else f"P({above})"

    def summed(self, names: Sequence[str], free: Sequence[Mechanism] = ()) -> str:
        """The sum over some variables and free mechanisms."""
        if not names and not free:
            return ""
        listed = ", ".join([*self.names(names), *(self.shown(m, "") for m in free)])
        return rf"\sum_{{{listed}}} " if self.is_latex else f"sum over {listed} of "

    def divided(self, above: str, below: Sequence[str]) -> str:
        """A quotient by a product."""
        if not below:
            return above
        if self.is_latex:
            return rf"\frac{{{above}}}{{{' '.join(below)}}}"
        return f"{above} / ({' '.join(below)})" if len(below) > 1 else f"{above} / {below[0]}"

    def words(self, text: str) -> str:
        """Words inside a formula."""
        return rf"\text{{{text}}}" if self.is_latex else text

    @property
    def proportional(self) -> str:
        """The symbol for "proportional to"."""
        return r" \propto " if self.is_latex else " ∝ "

    @property
    def times(self) -> str:
        """The symbol between factors."""
        return r" \, " if self.is_latex else " "

    def block(self, lines: Sequence[str]) -> str:
        """A formula and, below it, the lines that define its parts."""
        if len(lines) == 1:
            return lines[0]
        if not self.is_latex:
            return "\n  ".join([f"{lines[0]}, where", *lines[1:]])
        body = " \\\\\n".join(f"& {line}" for line in lines)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


TEXT = Notation(is_latex=False)
LATEX = Notation(is_latex=True)


def latex_name(name: str) -> str:
    r"""A variable's name in LaTeX's mathematics.

    Examples
    --------
    >>> latex_name("blood_type")
    '\\text{blood\\_type}'
    """
    return LATEX.name(name)
