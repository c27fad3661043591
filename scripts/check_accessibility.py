"""Hold pages and the studio against axe-core: no finding may be serious or critical.

python scripts/check_accessibility.py AXE.min.js

Each page is looked at wide and light, narrow and dark; with evidence, and with everything open.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import pyarrow.csv
from playwright.sync_api import sync_playwright

import lacunet as lc
from lacunet.counts.missing_values import missing_summary
from lacunet.show.diagnosis_page import page as diagnosed_page
from lacunet.show.network_page import page as network_page
from lacunet.show.network_page import pair_page
from lacunet.show.pages.live_network import ShownNetwork
from lacunet.show.pages.provenance import Provenance
from lacunet.show.results.result_page import page as learned_page
from lacunet.show.studio.folder import Folder
from lacunet.show.studio.project import Project
from lacunet.show.studio.server import Server, Studio
from lacunet.show.verdicts.verdict_on_data import GraphReport, report_on_data
from lacunet.show.verdicts.verdict_page import page as recovered_page

GRAVE = {"serious", "critical"}
SIZES = ((1280, "light"), (390, "dark"))
STEPS = ("table", "missing", "graph", "learn", "ask", "export")
RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .map(v => [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)])"""
SOURCE = Provenance("lacunet", "", network="asia", data="patients.csv", learned="learned.json")


def pages() -> dict[str, tuple[str, str]]:
    """The text of each kind of page, and a question that is asked of it."""
    asia = lc.example("asia")
    rows = lc.simulate(asia, 800, lc.MCAR(0.3, share=0.5), rng=3).table
    result = lc.learn(asia, rows, method="em", intervals=True)
    graph = lc.MissingnessGraph.parse("smoke -> R[lung]; R[lung] -> R[xray]; dysp -> R[dysp]", asia)
    answers = [report_on_data(verdict) for verdict in graph.recover_families().values()]
    summary = missing_summary(rows, asia.families)
    sides = [ShownNetwork(label, asia) for label in ("first", "second")]
    learned = learned_page(result, summary, SOURCE, level=0.95, missingness=graph)
    diagnosed = diagnosed_page(lc.diagnose(rows, asia), missing_summary(rows, []), SOURCE)
    return {
        "learned": (learned, "#smoke=yes&dysp"),
        "network": (network_page(lc.example("munin1"), SOURCE), "#R_MED_ALLCV_EW=M_S60"),
        "pair": (pair_page(sides[0], sides[1], SOURCE), "#smoke=yes"),
        "recovered": (recovered_page(GraphReport(graph, answers), SOURCE), ""),
        "diagnosed": (diagnosed, ""),
    }


def findings(browser: Any, address: str, axe: str) -> Iterator[str]:
    """What axe-core says of an address, in each size."""
    for width, scheme in SIZES:
        sight = {"width": width, "height": 900}
        context = browser.new_context(viewport=sight, color_scheme=scheme, bypass_csp=True)
        tab = context.new_page()
        tab.goto(address)
        tab.wait_for_timeout(1_000)
        tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        tab.add_script_tag(content=axe)
        for impact, name, number, where in tab.evaluate(RUN):
            yield f"{impact} {name} ({width}, {scheme}), {number} times: {where}"
        context.close()


def main(axe: str) -> int:
    """Print all findings; how many are grave."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("no chromium: nothing is checked")
        return 0
    grave = 0
    with TemporaryDirectory() as place, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        folder = Path(place).resolve()
        addresses = {}
        for name, (text, question) in pages().items():
            (folder / f"{name}.html").write_text(text)
            addresses[name] = (folder / f"{name}.html").as_uri() + question
        pyarrow.csv.write_csv(lc.example_data("nhanes"), folder / "nhanes.csv")
        studio = Studio(Folder(folder))
        graph = "Gender -> EverSmoked -> SmokesNow\nAge -> BMI\nAge -> R[BMI]"
        studio.store.save(Project(data="nhanes.csv", bins={"Age": "4", "BMI": "4"}, graph=graph), 0)
        with Server(studio) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            addresses |= {f"studio, {step}": f"{server.address}#{step}" for step in STEPS}
            for name, address in addresses.items():
                for text in findings(browser, address, axe):
                    print(f"{name}: {text}")
                    grave += text.split()[0] in GRAVE
            server.shutdown()
        browser.close()
    print(f"{len(addresses)} views looked at, {grave} grave findings")
    return min(grave, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).read_text(encoding="utf-8")))
