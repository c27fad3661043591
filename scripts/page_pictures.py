"""The pictures of docs/page.md: pages in Debian's chromium, and two figures.

python scripts/page_pictures.py docs/pictures
"""

from __future__ import annotations

import shutil
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np
import pyarrow.csv
from PIL import Image
from playwright.sync_api import sync_playwright

import lacunet as lc
from lacunet.counts.missing_values import missing_summary
from lacunet.plots import cpt_forest, network_figure
from lacunet.show.diagnosis_page import page as diagnosed_page
from lacunet.show.network_page import pair_page
from lacunet.show.pages.kit import write_page
from lacunet.show.pages.live_network import ShownNetwork
from lacunet.show.pages.numbers import Behind, rows_behind
from lacunet.show.pages.provenance import Provenance
from lacunet.show.results.result_page import page
from lacunet.show.studio.folder import Folder
from lacunet.show.studio.project import Project
from lacunet.show.studio.server import Server, Studio
from lacunet.show.verdicts.verdict_on_data import GraphReport, report_on_data
from lacunet.show.verdicts.verdict_page import page as recovered_page
from lacunet.simulation.at_random import MAR
from lacunet.simulation.simulate import simulate

COLOURS = 128
STUDIO = Project(
    data="nhanes.csv",
    bins={"Age": "0,20,40,60,inf", "BMI": "4"},
    graph="""Gender -> EverSmoked
Age -> EverSmoked -> SmokesNow
Age -> BMI -> Diabetes -> HeartAttack
EverSmoked -> HeartAttack
Age -> R[HeartAttack]
Age -> R[EverSmoked] -> R[SmokesNow]
EverSmoked -> R[SmokesNow]
R[BMI], R[Diabetes]""",
)


def pages() -> dict[str, tuple[str, dict[str, Any]]]:
    """Each page, and how it is looked at."""
    made = Provenance("", "", network="alarm", data="patients.csv", learned="learned.json")
    drawn = simulate(
        lc.example("alarm"), 5_000, MAR(share=0.3, beta=(1.0, 0.5)), rng=np.random.default_rng(2)
    )
    result = lc.learn(drawn.network, drawn.table, method="em", intervals=True)
    alarm = page(result, missing_summary(drawn.table, result.network.families), made, level=0.95)
    other = lc.learn(drawn.network, drawn.table, method="direct-mcar")
    sides = [
        ShownNetwork(
            one.method, one.network, Behind({v: rows_behind(r) for v, r in one.families.items()})
        )
        for one in (result, other)
    ]
    large = simulate(
        lc.example("munin1"), 2_000, MAR(share=0.3, beta=(1.0, 0.5)), rng=np.random.default_rng(2)
    )
    found = lc.learn(large.network, large.table, method="factored-mar")
    munin = Provenance("", "", network="munin1", data="emg.parquet")
    asia = lc.example("asia")
    graph = lc.MissingnessGraph.parse("smoke -> R[lung]; R[lung] -> R[xray]; dysp -> R[dysp]", asia)
    answers = [report_on_data(verdict) for verdict in graph.recover_families().values()]
    source = Provenance("", "", network="asia")
    diagnosis = lc.diagnose(drawn.table, drawn.network)
    return {
        "page-alarm": (alarm, {"after": "#HRBP=HIGH&CVP=LOW", "height": 1150}),
        "page-phone": (
            alarm,
            {"after": "#HRBP=HIGH", "width": 390, "height": 1000, "scheme": "dark"},
        ),
        "page-pair": (pair_page(sides[0], sides[1]), {"after": "#HRBP=HIGH", "height": 900}),
        "page-munin1": (
            page(found, missing_summary(large.table, found.network.families), munin),
            {"height": 1150},
        ),
        "page-diagnose": (
            diagnosed_page(diagnosis, missing_summary(drawn.table, []), made),
            {"height": 900, "waits": False},
        ),
        "page-recover": (
            recovered_page(GraphReport(graph, answers), source),
            {"height": 900},
        ),
    }


def keep(tab: Any, path: Path) -> None:
    """Keep what a tab shows as a picture, and close it."""
    picture = Image.open(BytesIO(tab.screenshot())).convert("RGB")
    picture.quantize(COLOURS).save(path, optimize=True)
    tab.close()


def main(folder: Path) -> None:
    """Write all pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with TemporaryDirectory() as place, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (text, how) in pages().items():
            path = Path(place) / f"{name}.html"
            write_page(path, text)
            size = {"width": how.get("width", 1280), "height": how["height"]}
            tab = browser.new_page(viewport=size, color_scheme=how.get("scheme", "light"))
            tab.goto(path.as_uri() + how.get("after", ""))
            if how.get("waits", True):
                tab.wait_for_selector("html[data-ready=yes]")
            tab.wait_for_timeout(2_000)
            keep(tab, folder / f"{name}.png")
        pyarrow.csv.write_csv(lc.example_data("nhanes"), Path(place) / "nhanes.csv")
        studio = Studio(Folder(Path(place).resolve()))
        studio.store.save(STUDIO, 0)
        with Server(studio) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            tab = browser.new_page(viewport={"width": 1280, "height": 960})
            tab.goto(f"{server.address}#graph")
            tab.wait_for_selector("html[data-ready=yes]")
            keep(tab, folder / "studio-graph.png")
            server.shutdown()
        browser.close()
    asia = lc.example("asia")
    rows = lc.simulate(asia, 800, lc.MCAR(0.3, share=0.5), rng=3).table
    result = lc.learn(asia, rows, method="em", intervals=True)
    graph = "smoke -> R[lung]; R[lung] -> R[xray]"
    network_figure(result, missingness=graph).write(folder / "figure-network.svg")
    cpt_forest(result, "dysp").write(folder / "figure-forest.svg")
    survey = lc.example_data("cholesterol").drop(["Race"])
    codes = {"Sex": {1: "male", 2: "female"}, "HighCholesterol": {0: "no", 1: "yes"}}
    network = lc.Network.from_data(lc.Data(survey, codes=codes), "Sex, Age -> HighCholesterol")
    data = lc.Data(survey, weight="Weight", strata="Stratum", cluster="Unit")
    result = lc.learn(network, data, "em", pseudo_counts=0, intervals=True)
    cpt_forest(result, "HighCholesterol").write(folder / "figure-cholesterol.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
