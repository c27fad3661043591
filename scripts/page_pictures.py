"""The pictures of the book: pages and the studio in Debian's chromium, and figures.

python scripts/page_pictures.py docs/pictures
"""

from __future__ import annotations

import shutil
import sys
from io import BytesIO
from itertools import product
from math import prod
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
from lacunet.plots import (
    cpt_forest,
    cpt_heatmap,
    effect_forest,
    em_trace,
    forest,
    learning_curves,
    missing_patterns,
    network_figure,
)
from lacunet.show.diagnosis_page import page as diagnosed_page
from lacunet.show.figures.picture import Picture
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
    rows = lc.simulate(asia, 1_500, lc.MCAR(0.2, share=0.5), rng=3).table
    edges = lc.learn_structure(rows, strengths=20, rng=1).network
    searched = lc.learn(edges, rows, intervals=True)
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
        "page-strengths": (
            page(searched, None, source, level=0.95),
            {"height": 700},
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
            if name not in ("page-diagnose", "page-recover"):  # beliefs, and intervals
                tab.wait_for_selector("html[data-hatched=yes]")
            tab.wait_for_timeout(300)
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
            tab = browser.new_page(viewport={"width": 1280, "height": 960})
            tab.goto(f"{server.address}#states")
            tab.wait_for_selector("html[data-ready=yes]")
            tab.click("#find-skips")
            tab.wait_for_selector("[data-skip]")
            tab.evaluate("scrollTo(0, document.body.scrollHeight)")
            keep(tab, folder / "studio-states.png")
            server.shutdown()
        browser.close()
    figures(folder)


def figures(folder: Path) -> None:
    """Write the figures: those of a page's example are made from the example's own rows."""
    asia = lc.example("asia")
    rows = lc.simulate(asia, 800, lc.MCAR(0.3, share=0.5), rng=3).table
    result = lc.learn(asia, rows, method="em", intervals=True)
    graph = "smoke -> R[lung]; R[lung] -> R[xray]"
    network_figure(result, missingness=graph).write(folder / "figure-network.svg")
    cpt_forest(result, "dysp").write(folder / "figure-forest.svg")
    cpt_heatmap(result, "dysp").write(folder / "figure-heatmap.svg")
    effect_forest(result.effect("dysp", do="bronc")).write(folder / "figure-effect.svg")
    em_trace(result).write(folder / "figure-trace.svg")
    survey = lc.example_data("cholesterol").drop(["Race"])
    codes = {"Sex": {1: "male", 2: "female"}, "HighCholesterol": {0: "no", 1: "yes"}}
    network = lc.Network.from_data(lc.Data(survey, codes=codes), "Sex, Age -> HighCholesterol")
    data = lc.Data(survey, weight="Weight", strata="Stratum", cluster="Unit")
    result = lc.learn(network, data, "em", pseudo_counts=0, intervals=True)
    cpt_forest(result, "HighCholesterol").write(folder / "figure-cholesterol.svg")
    health = lc.example_data("nhanes")
    columns = ["Age", "Gender", "Education", "Income", "BMI", "EverSmoked", "SmokesNow", "Diabetes"]
    cut = lc.Data(
        health.select(columns),
        bins={"Age": [0, 20, 40, 60, float("inf")], "BMI": 4},
        missing={"Education": "Don't Know"},
        not_asked={"Education": "Age=[0,20)", "SmokesNow": "EverSmoked=no"},
    )
    rules = "Age -> Education; EverSmoked -> SmokesNow; Gender; Income; BMI; Diabetes"
    patterns = missing_patterns(lc.Network.from_data(cut, rules), cut, most=10)
    patterns.write(folder / "figure-missing.svg")
    noisy_or().write(folder / "figure-links.svg")
    priors().write(folder / "figure-prior.svg")


def noisy_or() -> Picture:
    """The links that docs/shapes.md learns, with their intervals, and what they are in truth."""
    causes = ["Pump", "Valve", "Sensor", "Power"]
    link, leak = [0.8, 0.6, 0.3, 0.9], 0.02
    quiet = [
        (1 - leak) * prod(1 - p for p, there in zip(link, present, strict=True) if there)
        for present in product([0, 1], repeat=4)
    ]
    states = {name: ["no", "yes"] for name in (*causes, "Alarm")}
    cpts = {name: [0.8, 0.2] for name in causes}
    table = np.reshape([[p, 1 - p] for p in quiet], (2, 2, 2, 2, 2))
    plant = lc.Network(states, {"Alarm": causes}, {**cpts, "Alarm": table})
    rows = lc.simulate(plant, 1000, lc.MCAR(0.2, share=1.0), rng=1).to_frame()
    edges = "Pump, Valve, Sensor, Power -> Alarm"
    result = lc.learn(edges, rows, shapes={"Alarm": "noisy-or"}, intervals=True)
    truth = [leak, *link]
    both: dict[str, Any] = {}
    for parameter, true in zip(result.parameters("Alarm").parameters, truth, strict=True):
        both[f"{parameter.name} (in truth {true:g})"] = (
            parameter.value,
            *parameter.interval,
        )
    return forest(both)


def priors() -> Picture:
    """How far CPTs are from the truth with one pseudo-count per cell and with learned ones."""
    alarm = lc.example("alarm")
    kinds: dict[str, Any] = {"one per cell": 1, "learned": "learn"}
    curves: dict[str, dict[int, list[float]]] = {kind: {} for kind in kinds}
    for number in (300, 1_000, 3_000, 10_000):
        for seed in range(10):
            rows = lc.simulate(alarm, number, lc.MAR(0.3), rng=seed).table
            for kind, pseudo_counts in kinds.items():
                learned = lc.learn(alarm, rows, "em", pseudo_counts=pseudo_counts)
                divergence = lc.kl_divergence(alarm, learned)
                curves[kind].setdefault(number, []).append(divergence)
    return learning_curves(curves)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
