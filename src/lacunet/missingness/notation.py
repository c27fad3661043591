"""The signs that estimands are written with: plain text, or LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lacunet.missingness.nodes import Mechanism, quoted

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
