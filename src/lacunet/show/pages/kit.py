"""The frame that all pages share: one file, no request, every name escaped.

The content security policy allows the page's own style and scripts by their hashes and
nothing else, so text that slips in as markup could not run.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from lacunet.atomic_files import writing_to
from lacunet.errors import LacunetError
from lacunet.show.figures.picture import Picture, page_style
from lacunet.text import counted, finite

NETWORK_SAVES = {"save-network": "save the network (JSON)", "save-cpts": "save all CPTs (CSV)"}


@dataclass(frozen=True)
class Tile:
    """One fact of the strip at the head of a page: what it is, its value, a remark."""

    label: str
    value: str
    remark: str = ""


class Markup(str):
    """A text in which every name is already escaped."""


def document(
    title: str,
    body: Sequence[str],
    data: Any = None,
    scripts: Sequence[str] = (),
    *,
    styles: Sequence[str] = (),
    allowed: Sequence[str] = (),
) -> str:
    """The whole page: its parts, the data they were made from, and what runs in it.

    Parameters
    ----------
    title
        Plain text.
    body
        Markup, in which every name is already escaped.
    data
        What the page was made from; carried in the page as JSON.
    scripts
        The names of the assets that run in the page, in order.
    styles
        The names of further assets that say how it looks.
    allowed
        What the page may do beside running its own scripts: directives of its policy.
    """
    carried = []
    if data is not None:
        carried.append(_data_block(data))
    sheets = [asset(name) for name in ("page.css", *styles)]
    style = "\n".join([*sheets, page_style("".join(body))])
    programs = [asset(name) for name in scripts]
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {' '.join(map(_hash, programs)) or _NONE}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            *allowed,
        ]
    )
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title>\n<style>{style}</style></head><body>",
            *body,
            *carried,
            *(f"<script>{program}</script>" for program in programs),
            "</body></html>\n",
        ]
    )


_NONE = "'none'"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data_block(data: Any) -> str:
    text = json.dumps(finite(data), ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":  # no text in it can end the element
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" id="page-data">{text}</script>'


@cache
def asset(name: str) -> str:
    """A file that pages are made with, without its indents and lines of comment."""
    text = (files("lacunet.show.pages") / "assets" / name).read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def check_page_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name that promises another kind of file than a page."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in ("", ".html", ".htm"):
        hint = "end its name in .html."
        if ending == ".pdf":
            hint += " A browser prints the page as PDF."
        raise LacunetError(f"{os.fspath(path)}: the page is written as HTML.", hint)


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Write a page, whole or not at all, or say why it cannot be written."""
    check_page_name(path)
    with writing_to(path, LacunetError) as file:
        file.write(text.encode(errors="backslashreplace"))


def isolated(text: str) -> str:
    """A name as text, isolated from the direction of what is around it."""
    return f"<bdi>{escape(text)}</bdi>"


def panel_link(index: int, markup: str) -> Markup:
    """A link that shows the variable at an index of the network in its panel."""
    return Markup(f'<a href="#panel" data-choose="{index}">{markup}</a>')


def _escaped(text: str) -> str:
    return text if isinstance(text, Markup) else escape(text)


def save_bar(text_of: Mapping[str, str]) -> str:
    """Buttons that save a part of the page, by their identifiers."""
    buttons = "".join(
        f'<button type="button" id="{name}">{text}</button>' for name, text in text_of.items()
    )
    return f'<div class="bar scripted" hidden>{buttons}</div>'


def missing_tile(share: float, partially: int, variables: int) -> Tile:
    """How many of the values are missing, and in how many of the variables."""
    where = f"of the values, in {partially} of {counted(variables, 'variable')}"
    return Tile("missing", f"{share:.1%}", where)


def tiles(facts: Sequence[Tile]) -> str:
    """The strip of facts at the head of a page."""
    parts = [
        f'<div class="tile"><span>{escape(fact.label)}</span>'
        f"<b>{_escaped(fact.value)}</b><span>{escape(fact.remark)}</span></div>"
        for fact in facts
    ]
    return f'<div class="tiles">{"".join(parts)}</div>'


def section(identifier: str, title: str, *parts: str) -> str:
    """A part of the page under its heading; what is empty is left out."""
    inside = "\n".join(filter(None, parts))
    return f'<section id="{escape(identifier)}"><h2>{escape(title)}</h2>\n{inside}</section>'


def paragraph(text: str, kind: str = "") -> str:
    """Plain text, or markup, as a paragraph, if there is any."""
    if text:
        return f"<p{f' class={kind}' if kind else ''}>{_escaped(text)}</p>"
    return ""


def bullets(items: Iterable[str]) -> str:
    """Markup in a list."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def disclosure(summary: str, *parts: str, kind: str = "", is_open: bool = False) -> str:
    """Markup that is shown, or hidden, by a click on its summary."""
    attributes = ""
    if kind:
        attributes += f' class="{kind}"'
    if is_open:
        attributes += " open"
    return f"<details{attributes}><summary>{summary}</summary>{''.join(parts)}</details>"


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: int = 1,
    identifier: str = "",
    attributes: Sequence[str] = (),
) -> str:
    """A table whose first ``left`` columns are labels; with an identifier it can be sorted."""
    kind = f' id="{escape(identifier)}" class="sortable"' if identifier else ""
    head = "".join(
        f'<th scope="col"{_label(column < left)}>{escape(text)}</th>'
        if text
        else f"<td{_label(column < left)}></td>"
        for column, text in enumerate(header)
    )
    extra = attributes or [""] * len(rows)
    body = "\n".join(
        f"<tr{more}>{''.join(_cell(cell, column < left) for column, cell in enumerate(row))}</tr>"
        for row, more in zip(rows, extra, strict=True)
    )
    return (
        f'<div class="wide" tabindex="0"><table{kind}><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _label(is_label: bool) -> str:
    return ' class="label"' if is_label else ""


def _cell(text: str, is_label: bool) -> str:
    isolated = f"<bdi>{_escaped(text)}</bdi>" if is_label else _escaped(text)
    return f"<td{_label(is_label)}>{isolated}</td>"


def figure(picture: Picture, caption: str) -> str:
    """A picture with what it shows in words."""
    return f"<figure>{picture.markup()}<figcaption>{escape(caption)}</figcaption></figure>"
