"""Pages in a real browser: Debian's chromium, driven by Playwright; ``make browser`` brings it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
needs_browser = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: run `make browser`"),
    # A driver that is shut down late says so on its pipe.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

# Every text that is visible: its size in pixels and its contrast against what is behind it.
TEXTS = """() => {
  const colour = text => {
    const parts = text.match(/[\\d.]+/g).map(Number), scale = text.startsWith("color(") ? 255 : 1;
    return [...parts.slice(0, 3).map(c => c * scale), parts[3] ?? 1];
  };
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const over = (top, below) => top.slice(0, 3).map((c, k) => c * top[3] + below[k] * (1 - top[3]));
  const behind = element => {
    const found = [];
    for (let e = element; e; e = e.parentElement) {
      const c = colour(getComputedStyle(e).backgroundColor);
      found.push(c);
      if (c[3] === 1) break;
    }
    return found.reverse().reduce((below, c) => over(c, below), [255, 255, 255]);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement, style = getComputedStyle(element);
    const silent = ["SCRIPT", "STYLE", "NOSCRIPT", "OPTION", "TITLE"];
    if (!node.textContent.trim() || silent.includes(element.tagName.toUpperCase())) continue;
    const box = element.getBoundingClientRect();
    if (!element.checkVisibility() || box.width < 1 || box.height < 1 || box.right < 0) continue;
    if (element.closest(":disabled")) continue;
    const svg = element.closest("svg.chart");
    const shrunk = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const paint = svg ? style.fill : style.color, ground = behind(svg ?? element);
    const [a, b] = [light(over(colour(paint), ground)), light(ground)].sort((x, y) => y - x);
    const text = node.textContent.trim().slice(0, 40), size = parseFloat(style.fontSize) * shrunk;
    const where = element.outerHTML.slice(0, 60);
    found.push({ text, size, contrast: (a + 0.05) / (b + 0.05), where });
  }
  return found;
}"""

# Everything that can be pressed, and its size; links in running text are exempt (WCAG 2.5.8).
TARGETS = """() => [...document.querySelectorAll("button, select, input, summary")]
  .filter(e => e.checkVisibility()).map(e => [e.outerHTML.slice(0, 80),
    e.getBoundingClientRect().width, e.getBoundingClientRect().height])
  .filter(([, width, height]) => width > 0)"""


# A list: one of these states; a mapping: how likely what was observed is in each.
Evidence = Mapping[str, str | list[str] | dict[str, float]]


def address(evidence: Evidence, do: Mapping[str, str] = MappingProxyType({})) -> str:
    """What is seen and what is set as the end of a page's address."""
    pairs = []
    for name, own in evidence.items():
        written = _escaped(name)
        if isinstance(own, dict):
            pairs += [f"{written}~{_escaped(state)}={weight}" for state, weight in own.items()]
        else:
            states = [own] if isinstance(own, str) else own
            pairs += [f"{written}={_escaped(state)}" for state in states]
    pairs += [f"do({quote(name, safe='')})={quote(state, safe='')}" for name, state in do.items()]
    return "#" + "&".join(pairs) if pairs else ""


def _escaped(text: str) -> str:
    return quote(text, safe="").replace("~", "%7E")


class Opened:
    """A page in the browser, with everything that it should not do written down."""

    def __init__(
        self,
        browser: Any,
        path: Path,
        width: int = 1280,
        scheme: str = "light",
        waits: bool = True,
        after: str = "",
        **more: Any,
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            accept_downloads=True,
            **more,
        )
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.requested(request.url))
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.page.goto(path.as_uri() + after)
        if waits:
            self.page.wait_for_selector("html[data-ready=yes]")

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def requested(self, address: str) -> None:
        if not re.match(r"file:.*\.html|data:,$|blob:|about:srcdoc", address):
            self.faults.append(address)

    def choose(self, variable: str) -> None:
        self.page.fill("#find", variable)

    def shown_cpt(self) -> np.ndarray:
        """The probabilities of all rows of the CPT, page by page, as printed."""
        rows: list[list[float]] = []
        while True:
            rows += self.page.eval_on_selector_all(
                "#cpt tbody tr:not(.folded)",
                "rows => rows.map(r => [...r.querySelectorAll('.cell')]"
                ".map(c => +c.firstChild.textContent))",
            )
            following = self.page.locator("#pages button", has_text="next rows")
            if not following.count() or following.is_disabled():
                return np.array(rows)
            following.click()

    def ask(self, evidence: Evidence, do: Mapping[str, str] = MappingProxyType({})) -> None:
        """Say by the address what is seen and set, and wait until all is worked out."""
        self.page.evaluate(
            "hash => { location.hash === hash || (delete document.documentElement.dataset.hatched, "
            "location.hash = hash) }",
            address(evidence, do),
        )
        self.page.wait_for_selector("html[data-hatched=yes]")

    def numbers(self, attribute: str = "belief") -> dict[str, dict[str, float]]:
        """What each bar says: its belief, or another of its data."""
        found: dict[str, dict[str, float]] = {}
        bars = self.page.eval_on_selector_all(
            "[data-variable][data-state]",
            "(bars, key) => bars.map(b => [b.dataset.variable, b.dataset.state, b.dataset[key]])",
            attribute,
        )
        for variable, state, value in bars:
            assert state not in found.setdefault(variable, {}), "one element for each state"
            if value is not None:
                found[variable][state] = float(value)
        return found

    @property
    def evidence_probability(self) -> float:
        (value,) = self.page.eval_on_selector_all(
            "[data-evidence-probability]", "all => all.map(o => o.dataset.evidenceProbability)"
        )
        return float(value)

    def bar(self, variable: str, state: str) -> Any:
        """The bar of a state."""
        return self.page.locator(f'[data-variable="{variable}"][data-state="{state}"]')
