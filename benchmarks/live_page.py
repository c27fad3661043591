"""Beliefs in the browser held against `lacunet.marginals`, and how long a click takes.

    python benchmarks/live_page.py                  the bundled networks
    python benchmarks/live_page.py FOLDER           the networks in a folder

For each network: how many variables the page answers, the worst difference of any belief over
several sets of random evidence, and the median time from a click to new numbers, hatching aside.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import numpy as np
from playwright.sync_api import sync_playwright

import lacunet as lc
from lacunet.formats.catalogue import catalogue
from lacunet.pages.kit import write_page
from lacunet.report.network import page

EVIDENCE = (0, 1, 3, 6)
READ = """() => [...document.querySelectorAll("[data-variable][data-state]")]
  .map(b => [b.dataset.variable, b.dataset.belief ?? null])"""
CLICKS = """async () => {
  const bars = [...document.querySelectorAll("[data-variable][data-state]")];
  const times = [];
  for (let k = 0; k < 20; k++) {
    const bar = bars[(k * 37) % bars.length], start = performance.now();
    bar.click();
    times.push(performance.now() - start);
    document.getElementById("clear").click();
    await new Promise(done => setTimeout(done, 30));
  }
  return times;
}"""


def evidence_of(network: lc.Network, rng: np.random.Generator, number: int) -> dict[str, str]:
    row = lc.simulate(network, 1, rng=rng).table
    names = rng.choice(network.variables, min(number, len(network.variables)), replace=False)
    return {str(v): network.states(v)[int(row.columns[v][0])] for v in names}


def beliefs(tab: Any, evidence: dict[str, str]) -> dict[str, list[float]]:
    pairs = [f"{quote(v, safe='')}={quote(s, safe='')}" for v, s in evidence.items()]
    tab.evaluate("hash => { location.hash = hash; }", "#" + "&".join(pairs))
    tab.wait_for_timeout(60)
    tab.wait_for_selector("html[data-hatched=yes]")
    found: dict[str, list[float]] = {}
    for variable, belief in tab.evaluate(READ):
        if belief is not None:
            found.setdefault(variable, []).append(float(belief))
    return found


def main(folder: Path | None) -> None:
    networks = (
        {entry.name: lc.example(entry.name) for entry in catalogue()}
        if folder is None
        else {path.name: lc.read_network(path) for path in sorted(folder.glob("*.gz"))}
    )
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with TemporaryDirectory() as place, sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        for name, network in networks.items():
            path = Path(place) / "net.html"
            write_page(path, page(network))
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(path.as_uri())
            tab.wait_for_selector("html[data-hatched=yes]", timeout=120_000)
            rng, worst, answered = np.random.default_rng(25), 0.0, len(network.variables)
            for number in EVIDENCE:
                evidence = evidence_of(network, rng, number)
                shown = beliefs(tab, evidence)
                answered = min(answered, len(shown))
                expected = lc.marginals(network, evidence, variables=list(shown))
                worst = max(
                    [
                        worst,
                        *(float(np.abs(shown[v] - np.asarray(expected[v])).max()) for v in shown),
                    ]
                )
            beliefs(tab, {})
            times = tab.evaluate(CLICKS)
            print(
                f"{name:24} {answered:4} of {len(network.variables):4} answered, "
                f"worst difference {worst:.1e}, click {np.median(times):7.1f} ms "
                f"({page_size(path):.0f} kB)",
                flush=True,
            )
            tab.close()
        browser.close()


def page_size(path: Path) -> float:
    return path.stat().st_size / 1000


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
