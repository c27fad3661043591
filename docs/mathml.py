r"""MathML from the LaTeX that docstrings and pages of the book are written in.

Only what our own formulas use is known: names, numbers, ``_{...}``, ``\frac``, ``\text`` and
``\mathrm``, large operators, brackets, and ``aligned`` lines. A command that is not known is
shown as it is written, so that nothing is lost in silence; of a list of more than eight names
the first three are shown and the others counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}_^&']|\s+|[0-9]+|.", re.DOTALL)
_MARKUP = {
    **{
        command: f"<mo>{sign}</mo>"
        for command, sign in (
            (r"\mid", "∣"), (r"\approx", "≈"), (r"\propto", "∝"), (r"\ne", "≠"), (r"\sim", "~"),
            (r"\subseteq", "⊆"), (r"\cdot", "·"), (r"\times", "×"), (r"\le", "≤"), (r"\ge", "≥"),
            (r"\in", "∈"), (r"\setminus", "∖"), (r"\cup", "∪"), (r"\to", "→"),
        )
    },
    **{
        command: f"<mi>{word}</mi>"
        for command, word in (
            (r"\Pr", "Pr"), (r"\arg", "arg"), (r"\max", "max"), (r"\min", "min"), (r"\log", "log"),
            (r"\pi", "π"), (r"\theta", "θ"), (r"\alpha", "α"), (r"\lambda", "λ"), (r"\delta", "δ"),
            (r"\gamma", "γ"), (r"\emptyset", "∅"), (r"\infty", "∞"), (r"\backslash", "\\"),
            (r"\ldots", "…"), (r"\exp", "exp"),
        )
    },
    **{
        command: f'<mo movablelimits="false">{sign}</mo>'
        for command, sign in ((r"\sum", "∑"), (r"\prod", "∏"))
    },
    **{
        command: f'<mspace width="{width}"/>'
        for command, width in (
            (r"\,", "0.17em"), (r"\ ", "0.33em"), (r"\quad", "1em"),
            (r"\qquad", "2em"), (r"\;", "0.28em"),
        )
    },
    **{bracket: f'<mo stretchy="false">{bracket}</mo>' for bracket in "()[]|"},
    "&": "",
}  # fmt: skip
_SIGNS = {
    r"\textbackslash": "\\",
    r"\textasciitilde": "~",
    r"\textasciicircum": "^",
    r"\textasciigrave": "`",
    r"\textless": "<",
    r"\textgreater": ">",
    r"\textbar": "|",
}
_NAMES = ("<mi>", "<mtext>")
_COMMA = "<mo>,</mo>"
LONG_LIST = 8
KEPT_NAMES = 3
_SIZES = (r"\left", r"\right", r"\big", r"\Big")


def mathml(latex: str) -> str:
    r"""The formula as a ``math`` element.

    Examples
    --------
    >>> mathml(r"R_{X}=1")
    '<math display="block"><msub><mi>R</mi><mi>X</mi></msub><mo>=</mo><mn>1</mn></math>'
    """
    tokens = _TOKEN.findall(latex)
    return f'<math display="block">{_Reader(tokens).formula()}</math>'


@dataclass
class _Reader:
    """Reads tokens from left to right."""

    tokens: list[str]
    position: int = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def formula(self) -> str:
        """The whole: several aligned lines, or one."""
        lines = [self.line()]
        while self.peek():
            self.take()
            lines.append(self.line())
        if len(lines) == 1:
            return lines[0]
        rows = "".join(f"<mtr><mtd>{line}</mtd></mtr>" for line in lines)
        return f'<mtable columnalign="left">{rows}</mtable>'

    def line(self) -> str:
        """Up to the end of a line or of the group."""
        parts: list[str] = []
        while self.peek() not in ("", "}", r"\\"):
            parts.append(self.scripted())
        return "".join(_folded([part for part in parts if part]))

    def scripted(self) -> str:
        """An atom with its dashes and subscripts."""
        base = self.atom()
        dashes = ""
        while self.peek() == "'":
            dashes += self.take()
        if dashes:
            base = f"<msup>{base}<mo>{'′' * len(dashes)}</mo></msup>"
        while self.peek() in ("_", "^"):
            tag = "msub" if self.take() == "_" else "msup"
            if base.startswith("<mo movablelimits"):
                tag = "munder" if tag == "msub" else "mover"
            base = f"<{tag}>{base}{self.group()}</{tag}>"
        return base

    def group(self) -> str:
        """What an argument holds, as one element."""
        while self.peek().isspace():
            self.take()
        if self.peek() != "{":
            return self.atom()
        self.take()
        inner = self.line()
        self.take()
        return inner if _is_one(inner) else f"<mrow>{inner}</mrow>"

    def raw(self) -> str:
        """The text of an argument: escaped characters as they are meant."""
        while self.take() != "{":
            pass
        text = ""
        while (token := self.take()) not in ("}", ""):
            if token in _SIGNS or token == r"\backslash":
                text += _SIGNS.get(token, "\\")
                if self.peek() == "{":
                    self.position += 2
                elif self.peek().isspace():
                    self.take()
            elif token == r"\sim":
                text += "~"
                self.take()
            elif token == r"\hat":
                text += "^"
                self.position += 3
            else:
                text += token[1:] if token.startswith("\\") else token
        return escape(text)

    def atom(self) -> str:
        token = self.take()
        if token in ("{", r"\mathsf"):
            self.position -= token == "{"
            return self.group()
        if token in (r"\text", r"\mathrm"):
            tag = "mtext" if token == r"\text" else "mi"
            return f"<{tag}>{_spaced(self.raw())}</{tag}>"
        if token == r"\frac":
            return f"<mfrac>{self.group()}{self.group()}</mfrac>"
        if token in (r"\begin", r"\end"):
            self.raw()
            return ""
        if token in _SIZES:
            return self.atom()
        return _simple(token)


def _folded(parts: list[str]) -> list[str]:
    """The same elements, long lists of names cut short with their number."""
    folded: list[str] = []
    while parts:
        run = 0
        while run + 1 < len(parts) and parts[run].startswith(_NAMES) and parts[run + 1] == _COMMA:
            run += 2
        run += run > 0 and run < len(parts) and parts[run].startswith(_NAMES)
        names = (run + 1) // 2
        if names > LONG_LIST:
            shown, rest = parts[: 2 * KEPT_NAMES], names - KEPT_NAMES
            folded += [*shown, f"<mtext>and {rest} more</mtext>"]
            folded += [_COMMA] if run % 2 == 0 else []
            parts = parts[run:]
        else:
            folded += parts[: max(run, 1)]
            parts = parts[max(run, 1) :]
    return folded


def _simple(token: str) -> str:
    """A token that stands for itself."""
    if token in _MARKUP or token.isspace():
        return _MARKUP.get(token, "")
    if token.isdecimal():
        return f"<mn>{token}</mn>"
    if len(token) == 2 and token[0] == "\\":
        return f"<mi>{escape(token[1])}</mi>"
    tag = "mtext" if len(token) > 1 else "mi" if token.isalpha() else "mo"
    return f"<{tag}>{escape(token)}</{tag}>"


def _spaced(text: str) -> str:
    """MathML drops spaces at the ends of a text; these stay."""
    inner = text.strip(" ")
    if not inner:
        return "\u00a0" * len(text)
    before, after = text[: text.index(inner)], text[text.rindex(inner) + len(inner) :]
    return "\u00a0" * len(before) + inner + "\u00a0" * len(after)


def _is_one(markup: str) -> bool:
    """Whether the markup is a single leaf element."""
    return bool(re.fullmatch(r"<(m[a-z]+)[^<>]*>[^<>]*</\1>", markup))
