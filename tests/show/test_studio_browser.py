"""The studio in a real browser, from an empty start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest
from browsing import TARGETS, TEXTS, needs_browser
from serving import served

import lacunet as lc
from lacunet.show.studio.project import Project
from lacunet.show.studio.server import Server

pytestmark = needs_browser


@contextmanager
def opened(
    browser: Any,
    server: Server,
    step: str = "",
    width: int = 1280,
    scheme: str = "light",
    height: int = 900,
    **more: Any,
) -> Iterator[Any]:
    """The page of the studio, at a step; what it should not do is a failure."""
    faults: list[str] = []
    size = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme, **more)
    page = context.new_page()
    page.on("console", lambda message: faults.append(message.text))
    refused = "Failed to load resource: the server responded with a status of 400 (Bad Request)"
    page.on("pageerror", lambda error: faults.append(str(error)))
    allowed = (server.address.partition("?")[0], "data:", "blob:")

    def request(asked: Any) -> None:
        if not asked.url.startswith(allowed):
            faults.append(asked.url)

    page.on("request", request)
    page.goto(server.address + step)
    page.wait_for_selector("html[data-ready=yes]")
    yield page
    context.close()
    assert [fault for fault in faults if fault != refused] == []  # half a text is refused


def pull(page: Any, tail: str, head: str) -> None:
    """Drag an arrow from one node to another, and wait for the drawing."""
    page.evaluate("delete document.documentElement.dataset.drawn")
    ends = [page.locator(f"[data-node='{key}'] .whole").bounding_box() for key in (tail, head)]
    (x, y), (to_x, to_y) = [(box["x"] + 12, box["y"] + box["height"] / 2) for box in ends]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 9, y + 9, steps=2)
    page.mouse.move(to_x, to_y, steps=3)
    page.mouse.up()
    page.wait_for_selector("html[data-drawn]")


def draw(page: Any, selector: str) -> None:
    """Click something that changes the graph, and wait for the drawing."""
    page.evaluate("delete document.documentElement.dataset.drawn")
    page.click(selector)
    page.wait_for_selector("html[data-drawn]")


def verdicts(page: Any) -> dict[str, str]:
    return dict(
        page.eval_on_selector_all(
            ".verdict", "all => all.map(o => [o.dataset.variable, o.dataset.status])"
        )
    )


def test_a_pair_that_is_missing_not_at_random_is_drawn_and_judged(
    browser: Any, tmp_path: Path
) -> None:
    with served(tmp_path) as server, opened(browser, server, "#graph") as page:
        for name in "XY":
            page.fill("#add-name", name)
            draw(page, "#add")
        pull(page, "X", "Y")
        for name in "XY":
            draw(page, f"[data-node='{name}'] .toggle")
        pull(page, "X", "R[Y]")
        # The other arrow by keyboard: Enter on its tail, then on its head.
        page.focus("[data-node='Y'] .whole")
        page.keyboard.press("Enter")
        page.focus("[data-node='R[X]'] .whole")
        page.evaluate("delete document.documentElement.dataset.drawn")
        page.keyboard.press("Enter")
        page.wait_for_selector("html[data-drawn]")
        text = page.input_value("#text").splitlines()
        assert text == ["X -> Y", "X -> R[Y]", "Y -> R[X]"]
        assert page.inner_text("#category") == "MNAR"
        network = lc.Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})

        def expected() -> dict[str, str]:
            graph = lc.MissingnessGraph.parse("; ".join(text[1:]), network)
            return {name: found.status for name, found in graph.recover_families().items()}

        assert verdicts(page) == expected() == {"X": "recoverable", "Y": "recoverable"}
        assert page.locator(".verdict math").count() == 2
        # A variable that decides itself whether it is recorded; then the text takes it back.
        pull(page, "X", "R[X]")
        text = page.input_value("#text").splitlines()
        assert "X -> R[X]" in text
        assert verdicts(page) == expected()
        assert verdicts(page)["X"] == "not recoverable"
        page.fill("#text", "X -> Y; X -> R[Y")
        page.wait_for_selector("#graph-error:not([hidden])")
        assert "line 1" in page.inner_text("#graph-error")
        page.fill("#text", "X -> Y; X -> R[Y]")
        page.wait_for_selector("[data-node='R[Y]']")
        page.wait_for_selector("[data-node='R[X]']", state="detached")
        page.wait_for_timeout(400)
        page.reload()
        page.wait_for_selector("html[data-ready=yes]")
        assert page.input_value("#text") == "X -> Y; X -> R[Y]"
        assert page.locator("[data-node]").count() == 3


def test_what_decides_whether_a_row_is_recorded_is_drawn_and_joined(
    browser: Any, tmp_path: Path
) -> None:
    with served(tmp_path) as server, opened(browser, server, "#graph") as page:
        page.fill("#text", "X -> Y; Y -> R[*]")
        page.wait_for_selector("[data-node='R[*]']")
        assert page.inner_text("[data-node='R[*]']") == "R[*]"
        assert page.locator("#board .line.cause").count() == 1
        pull(page, "X", "R[*]")
        assert page.input_value("#text").splitlines() == ["X -> Y", "Y -> R[*]", "X -> R[*]"]
        assert page.locator("#board .line.cause").count() == 2


@pytest.fixture(scope="module")
def nhanes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("survey")
    pyarrow.csv.write_csv(lc.example_data("nhanes"), folder / "nhanes.csv")
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::lacunet.errors.LacunetWarning")
def test_from_a_survey_to_intervals_and_an_answer_with_a_reload_in_between(
    browser: Any, nhanes: Path
) -> None:
    with served(nhanes) as server, opened(browser, server) as page:
        page.select_option("#file", "nhanes.csv")
        page.wait_for_selector("#table-facts .tile")
        assert "8,366" in page.inner_text("#table-facts")
        page.click("#table .go")
        for name in ("Age", "BMI", "Diabetes", "HeartAttack"):
            page.check(f"[data-column={name}] input[type=checkbox]")
        page.click("#to-graph")
        for name in ("Age", "BMI", "Diabetes", "HeartAttack"):
            page.locator(f"[data-node={name}]").wait_for()
        for edge in (("Age", "BMI"), ("BMI", "Diabetes"), ("Diabetes", "HeartAttack")):
            pull(page, *edge)
        page.click("#graph .go")
        page.select_option("#method", "em")
        page.click("#learn-now")
        page.wait_for_selector("html[data-job=running]")
        page.click("#cancel")
        page.wait_for_selector("html[data-job=cancelled]", timeout=30_000)
        assert page.locator("[data-run]").count() == 0
        page.click("#learn-now")
        page.wait_for_selector("html[data-job=running]")
        page.reload()
        page.wait_for_selector("html[data-job=done]", timeout=120_000)
        page.wait_for_selector("[data-run]")
        page.click("#to-ask")
        frame = page.frame_locator("#asked-page")
        bar = frame.locator('[data-variable="HeartAttack"][data-state="yes"]')
        bar.wait_for()
        frame.locator('[data-variable="Diabetes"][data-state="yes"]').click()
        belief = float(bar.get_attribute("data-belief"))
        shown = page.locator("[data-answer=HeartAttack] [data-state=yes] td")
        shown.first.wait_for()
        answered = shown.all_inner_texts()
        page.click("#to-code")
        page.locator("#python", has_text="result.query").wait_for()
        names: dict[str, Any] = {}
        code = page.inner_text("#python")
        place = f"os.chdir({str(nhanes)!r})\n"
        exec(f"import os\nbefore = os.getcwd()\n{place}{code}\nos.chdir(before)", names)
        answer = names["result"].query("HeartAttack", {"Diabetes": "yes"})
        np.testing.assert_allclose(belief, answer.probabilities[1], rtol=0, atol=1e-9)
        low, high = answer.interval[1]
        assert low < belief < high
        assert answered == [f"{belief:.3f}", f"{low:.3f}–{high:.3f}"]
        page.reload()
        page.wait_for_selector("html[data-ready=yes]")
        page.click("#to-ask")
        pressed = frame.locator('[data-variable="Diabetes"][data-state="yes"][aria-pressed=true]')
        pressed.wait_for()


BEYOND = """() => [...document.querySelectorAll("button, select, input, textarea, td, summary")]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth - 6 &&
    !e.closest("#first-rows"))
  .map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (768, "light"), (1280, "dark")])
def test_every_step_fits_and_can_be_read_and_pressed(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    long = "a long answer, of many words, that somebody wrote into a questionnaire"
    (tmp_path / "rows.csv").write_text("Age,Ill,Said\n" + f'12,no,"{long}"\n,yes,\n41,no,x\n' * 30)
    with served(tmp_path) as server:
        graph = "Age -> Ill; Age -> R[Ill]; Ill -> R[Age]"
        project = Project(data="rows.csv", graph=graph, states={"Said": (long, "x")})
        server.studio.store.save(project, 0)
        with opened(browser, server, width=width, scheme=scheme) as page:
            for step in ("table", "states", "graph", "learn", "ask", "code"):
                page.click(f"#to-{step}")
                page.wait_for_selector(f"#{step}:not([hidden])")
                assert page.evaluate("document.documentElement.scrollWidth") <= width, step
                texts = page.evaluate(TEXTS)
                assert [text for text in texts if text["size"] < 10.99] == []
                assert [text for text in texts if text["contrast"] < 4.5] == []
                small = [own for own in page.evaluate(TARGETS) if min(own[1:]) < 24]
                assert small == [], step
                assert page.evaluate(BEYOND) == [], step  # nor does anything touch the edge


def test_what_another_table_left_behind_is_named_and_can_be_taken_out(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "first.csv").write_text("Old,Both,Size\n" + "a,x,1\nb,y,2\n" * 30)
    (tmp_path / "second.csv").write_text("New,Both\n" + "c,x\nd,y\n" * 30)
    with served(tmp_path) as server:
        project = Project(
            data="first.csv",
            graph="Old -> Both; Both -> R[Old]",
            weight="Size",
            missing={"Old": ("9",), "Both": ("9",)},
        )
        server.studio.store.save(project, 0)
        with opened(browser, server) as page:
            assert page.is_hidden("#strangers")
            page.select_option("#file", "second.csv")
            page.wait_for_selector("#strangers:not([hidden])")
            assert page.inner_text("#strangers").startswith(
                "Old, Size are not columns of this table."
            )
            page.click("#without-strangers")
            page.wait_for_selector("#strangers", state="hidden")
            page.wait_for_timeout(400)
        _, kept = server.studio.store.current()
        assert (kept.graph, kept.weight, kept.missing) == ("Both", "", {"Both": ("9",)})


def press(page: Any, key: str, part: str, *, draws: bool = False) -> None:
    """Press a part of the node with this key."""
    page.evaluate("delete document.documentElement.dataset.drawn")
    page.evaluate(
        "([key, part]) => document.querySelector(`[data-node=${CSS.escape(key)}] ${part}`).click()",
        [key, part],
    )
    if draws:
        page.wait_for_selector("html[data-drawn]")


HOSTILE = ['a "b", c', "<img src=x onerror=alert(1)>", "R[x]", "é -> ü; #"]


def test_names_that_are_markup_or_syntax_are_drawn_learned_and_exported(
    browser: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(25)
    states = ["</script><b>", "no, none"]
    columns = {
        name: [states[int(k)] if k < 2 else None for k in rng.integers(0, 3, 90)]
        for name in HOSTILE
    }
    pyarrow.csv.write_csv(pyarrow.table(columns), tmp_path / "rows.csv")
    with served(tmp_path) as server, opened(browser, server, "#states") as page:
        page.click("#to-table")
        page.select_option("#file", "rows.csv")
        page.wait_for_selector("#table-facts .tile")
        page.click("#to-states")
        page.evaluate("delete document.documentElement.dataset.drawn")
        page.click("#use-all")
        page.wait_for_selector("html[data-drawn]")
        page.click("#to-graph")
        nodes = page.locator("[data-node]")
        nodes.first.wait_for()
        assert nodes.count() == 4
        keys = page.eval_on_selector_all("[data-node]", "all => all.map(o => o.dataset.node)")
        for key in keys[1:]:
            press(page, keys[0], ".whole")
            press(page, key, ".whole", draws=True)
        for key in keys:
            press(page, key, ".toggle", draws=True)
        assert page.locator("[data-node]").count() == 8
        assert page.locator("img").count() == 0
        page.click("#to-learn")
        page.click("#learn-now")
        page.wait_for_selector("html[data-job=done]", timeout=60_000)
        learned = lc.read_network(server.studio.runs.file("1", "learned.json"))
        assert set(learned.variables) == set(HOSTILE)
        assert len(learned.edges) == 3
        assert server.studio.runs.file("1", "graph.txt").read_text().count("\n") == 4


def test_what_is_drawn_can_be_taken_back_by_pointer_and_keyboard(
    browser: Any, tmp_path: Path
) -> None:
    with served(tmp_path) as server, opened(browser, server, "#graph") as page:

        def text() -> list[str]:
            found = page.input_value("#text")
            assert isinstance(found, str)
            return sorted(found.splitlines())

        page.fill("#text", "X -> Y; Z; R[Y]")
        page.locator("[data-node='R[Y]']").wait_for()
        page.select_option("#kind", "<->")
        pull(page, "X", "R[Y]")
        assert text() == ["X -> Y", "X <-> R[Y]", "Z"]
        graph = lc.MissingnessGraph.parse(
            "X <-> R[Y]", lc.Network({v: ["0", "1"] for v in "XYZ"}, {"Y": ["X"]})
        )
        statuses = {name: found.status for name, found in graph.recover_families().items()}
        assert verdicts(page) == statuses
        draw(page, "#edges span:has-text('↔') .out")  # its chip
        assert text() == ["R[Y]", "X -> Y", "Z"]
        draw(page, "#edges .turn")
        assert text() == ["R[Y]", "Y -> X", "Z"]
        draw(page, "#edges .turn")
        assert text() == ["R[Y]", "X -> Y", "Z"]
        click_line(page, ".grip")  # chooses the arrow, and takes nothing out
        assert page.inner_text("#remove") == "take X → Y out"
        assert page.locator("#board .line.chosen").count() == 1
        assert text() == ["R[Y]", "X -> Y", "Z"]
        draw(page, "#turn")
        assert text() == ["R[Y]", "Y -> X", "Z"]
        page.keyboard.press("Delete")  # of nothing chosen
        click_line(page, ".grip")
        page.evaluate("delete document.documentElement.dataset.drawn")
        page.keyboard.press("Delete")
        page.wait_for_selector("html[data-drawn]")
        assert text() == ["R[Y]", "X", "Y", "Z"]
        page.focus("[data-node='Z'] .whole")
        page.evaluate("delete document.documentElement.dataset.drawn")
        page.keyboard.press("Delete")
        page.wait_for_selector("html[data-drawn]")
        assert "Z" not in text()
        draw(page, "[data-node='Y'] .toggle")  # not missing after all
        assert page.locator(".box").count() == 0


def test_a_cycle_is_drawn_in_red_and_taken_out_by_a_click(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as server, opened(browser, server, "#graph") as page:
        page.fill("#text", "X -> Y -> Z; X -> R[Y]")
        page.locator("[data-node='R[Y]']").wait_for()
        for remove in (
            partial(remove_line, page, ".grip:has(+ .wrong)"),
            partial(draw, page, "#edges .out.wrong"),
        ):
            pull(page, "Z", "X")
            assert "cycle" in page.inner_text("#graph-error")
            assert verdicts(page) == {}
            assert page.locator(".line.wrong").count() == 1
            assert page.locator("[data-node]").count() == 4
            remove()
            text = page.input_value("#text").splitlines()
            assert text == ["X -> Y", "Y -> Z", "X -> R[Y]"]
            assert page.is_hidden("#graph-error")
            assert set(verdicts(page)) == {"X", "Y", "Z"}
        # Any other arrow of the cycle can go as well, and one that was typed.
        page.fill("#text", "X -> Y -> X; R[Y] -> X")
        page.wait_for_selector(".line.wrong")
        draw(page, "#edges span:has-text('X → Y') .out")
        assert "mechanism" in page.inner_text("#graph-error")
        page.evaluate("delete document.documentElement.dataset.drawn")
        page.focus("#edges .out.wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("html[data-drawn]")
        assert page.evaluate("document.activeElement.closest('#edges') !== null")  # focus stays
        assert sorted(page.input_value("#text").splitlines()) == ["R[Y]", "Y -> X"]
        assert page.is_hidden("#graph-error")


def click_line(page: Any, selector: str) -> None:
    """Click the middle of a line."""
    x, y = page.locator(selector).evaluate(
        "line => { const at = line.getPointAtLength(line.getTotalLength() / 2)"
        ".matrixTransform(line.getScreenCTM()); return [at.x, at.y] }"
    )
    page.mouse.click(x, y)


def remove_line(page: Any, selector: str) -> None:
    click_line(page, selector)
    draw(page, "#remove")


def _smoker(k: int) -> str:
    """Who smoked was asked about it; of some it is not known whether they did."""
    asked = f"{'yes' if k % 15 else ''},{'ab'[k % 2]},{'xy'[k % 4 // 2]}"
    return f"{'old' if k % 2 else 'young'},{'no,,' if k % 3 else asked}\n"


SMOKERS = "Age,Smoked,Now,Since\n" + "".join(map(_smoker, range(150)))


def test_a_rule_is_part_of_the_graph_and_is_taken_with_its_arrows(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(SMOKERS)
    with served(tmp_path) as server:
        project = Project(data="rows.csv", graph="Age; Smoked; Now; Since; R[Now]; R[Smoked]")
        server.studio.store.save(project, 0)
        with opened(browser, server, "#graph") as page:
            assert page.inner_text("#category") == "MCAR"
            page.click("#to-states")
            page.click("#find-skips")
            draw(page, "#take-all")
            page.wait_for_selector("[data-column=Now] td:has-text('not asked: 66.7%')")
            page.click("#diagnose")  # needs the arrows of the rules
            page.wait_for_selector("html[data-job=done]", timeout=60_000)
            page.click("#to-graph")
            assert {"Smoked -> Now", "Smoked -> Since"} <= set(
                page.input_value("#text").split("\n")
            )
            category = page.inner_text("#category")
            page.click("#to-learn")
            page.click("#explain")
            page.wait_for_selector("#plan", timeout=60_000)
            assert page.inner_text("#plan").count(category) == 1 == category.count("MNAR")
            # Without such an arrow it says what is lacking, and draws it.
            page.click("#to-graph")
            draw(page, "#edges span:has-text('Smoked → Now') .out")
            assert "Smoked → Now is not drawn" in page.inner_text("#verdicts")
            draw(page, "#draw-lacking")
            assert page.inner_text("#category") == "MNAR"


def test_arrows_are_proposed_where_a_number_was_not_asked_of_everybody(
    browser: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    lines = ["Smoked,PerDay,Ill"]
    for _ in range(400):
        smoked, ill = rng.random() < 0.5, rng.choice(["no", "yes", ""])
        lines.append(f"{'yes' if smoked else 'no'},{rng.poisson(12) if smoked else ''},{ill}")
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    with served(tmp_path) as server:
        project = Project(data="rows.csv", bins={"PerDay": "3"}, graph="Smoked; PerDay; Ill")
        server.studio.store.save(project, 0)
        with opened(browser, server, "#states") as page:
            page.click("#find-skips")
            draw(page, "[data-skip=PerDay]")
            page.wait_for_selector("[data-column=PerDay] td:has-text('not asked')")
            page.click("#to-graph")
            # The rule says why PerDay is empty, so nothing else has to.
            page.wait_for_selector("#verdicts:has-text('Ill has missing values')")
            page.click("#structure")
            page.wait_for_selector("#proposed:has-text('The data speak for')", timeout=60_000)
            assert not page.is_visible("#trouble")
            assert "Smoked -> PerDay" in page.input_value("#text")


def test_changes_are_undone_and_come_back(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(SMOKERS)
    with served(tmp_path) as server:
        server.studio.store.save(Project(data="rows.csv", graph="Age -> Smoked"), 0)
        with opened(browser, server, "#graph") as page:
            assert page.is_disabled("#undo")
            draw(page, "#edges .out")
            page.click("#to-states")
            draw(page, "#use-none")
            page.click("#to-learn")
            page.fill("#seed", "7")
            page.press("#seed", "Tab")
            page.click("#undo")
            assert page.input_value("#seed") == "0"
            page.click("#to-graph")
            for graph in ("Age\nSmoked", "Age -> Smoked"):
                page.keyboard.press("Control+z")
                page.wait_for_function(
                    "graph => byId('text').value === graph".replace(
                        "byId(", "document.getElementById("
                    ),
                    arg=graph,
                )
            page.wait_for_selector("[data-node=Smoked]")
            assert page.is_disabled("#undo")
            for _ in range(3):
                page.click("#redo")
            assert page.input_value("#text") == ""
            assert page.input_value("#seed") == "7"
            page.wait_for_timeout(400)
        assert server.studio.store.current()[1].seed == 7


def test_what_cannot_be_read_is_kept_beside_the_drawing_over_a_reload(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(SMOKERS)
    with served(tmp_path) as server:
        server.studio.store.save(Project(data="rows.csv", graph="Age -> Smoked"), 0)
        with opened(browser, server, "#graph", height=500) as page:
            page.fill("#text", "Age -> Smoked; Now ->")
            page.wait_for_selector("#graph-error:not([hidden])")
            page.wait_for_timeout(400)
            page.reload()
            page.wait_for_selector("html[data-ready=yes]")
            assert page.input_value("#text") == "Age -> Smoked; Now ->"
            assert page.locator("[data-node]").count() == 2
            assert is_on_screen(page, "#graph-error")
            page.click("#to-learn")
            page.click("#learn-now")
            page.wait_for_selector("#trouble:not([hidden])")
            page.mouse.wheel(0, 4000)
            assert "text of the graph" in page.inner_text("#trouble")
            assert is_on_screen(page, "#trouble")
            page.click("#trouble-close")
            assert page.is_hidden("#trouble")
            page.click("#to-graph")
            page.fill("#text", "Age -> Smoked; Now")
            page.wait_for_selector("[data-node=Now]")
            page.wait_for_timeout(400)
        kept = server.studio.store.current()[1]
        assert (kept.graph, kept.draft) == ("Age -> Smoked; Now", "")


@pytest.mark.slow
def test_after_learning_the_cpts_are_there_and_runs_are_named_compared_and_deleted(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("A,B\n" + "a,x\na,y\nb,y\nb,\n" * 30)
    with served(tmp_path) as server:
        project = Project(data="rows.csv", graph="A -> B", method="em", pseudo_counts=1.0)
        server.studio.store.save(project, 0)
        with opened(browser, server, "#learn") as page:

            def learned(number: int) -> None:
                page.wait_for_selector("html[data-job=running]")
                page.wait_for_selector("html[data-job=done]", timeout=60_000)
                page.wait_for_selector(f"[data-run='{number}'].shown")

            page.click("#learn-now")
            learned(1)
            page.wait_for_selector(".cpt[data-variable=B] tbody tr")
            result = lc.read_result(server.studio.runs.file("1", "learned.json"))
            cells = page.locator(".cpt[data-variable=B] tbody tr:nth-child(1) td")
            low, high = result.interval("B", 0.95)[0, 0]
            estimate = result.network.cpt("B").table[0, 0]
            assert cells.first.inner_text().split() == [f"{estimate:.3f}", f"{low:.3f}–{high:.3f}"]
            page.fill("[data-run='1'] .label", "one each")
            page.press("[data-run='1'] .label", "Tab")
            page.wait_for_selector("#to-learn span:has-text('one each')")
            page.fill("#pseudo-counts", "9")
            page.press("#pseudo-counts", "Tab")
            page.fill("#level", "90")
            page.press("#level", "Tab")
            assert page.input_value("#level") == "0.9"
            page.click("#learn-now")
            learned(2)
            for number in "12":
                page.check(f"[data-run='{number}'] input[type=checkbox]")
            page.click("#beside")
            learned(3)
            page.click("#to-ask")
            page.wait_for_selector("#differences tbody tr")
            assert "one each (run 1)" in page.inner_text("#differences .legend")
            frame = page.frame_locator("#asked-page")
            fill = "all => all.map(own => getComputedStyle(own).backgroundColor)"
            frame.locator(".track .fill").first.wait_for(state="attached")
            bars = frame.locator(".track .fill").evaluate_all(fill)[:2]
            assert page.locator(".swatch").evaluate_all(fill) == bars
            page.click("#to-learn")
            page.click("[data-run='2'] .delete")
            page.focus("#seed")  # thought better of
            assert page.inner_text("[data-run='2'] .delete") == "delete"
            for number in "32":
                page.click(f"[data-run='{number}'] .delete")
                page.click(f"[data-run='{number}'] .delete")
                page.wait_for_selector(f"[data-run='{number}']", state="detached")
            page.wait_for_selector("[data-run='1'].shown")
            page.click("#to-ask")
            assert page.is_hidden("#differences")
            page.wait_for_timeout(400)
        assert server.studio.store.current()[1].run == 1
        assert [path.name for path in server.studio.runs.folder.iterdir()] == ["1"]


@pytest.mark.slow
def test_an_example_in_an_empty_folder_leads_to_an_answer(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as server, opened(browser, server) as page:
        page.click("[data-example=screening]")
        page.wait_for_selector("#table-facts .tile")
        for step in ("table", "states", "graph"):
            page.click(f"#{step} .go")
        # Who goes on before the result is told of sees it all the same.
        delayed = "**/state"
        page.click("#learn-now")
        page.wait_for_selector("html[data-job=running]")
        page.route(delayed, lambda route: (page.wait_for_timeout(1_000), route.continue_()))
        page.wait_for_selector("html[data-job=done]", timeout=120_000)
        page.click("#job .go")
        frame = page.frame_locator("#asked-page")
        frame.locator('[data-variable="Test"][data-state="positive"]').click()
        page.unroute(delayed)
        shown = page.locator("[data-answer=Disease] [data-state=yes] td")
        shown.first.wait_for()
        low, high = map(float, shown.all_inner_texts()[1].split("–"))
        truth = lc.example("screening").query("Disease", {"Test": "positive"})["yes"]
        assert low < truth < high


def test_fingers_are_told_to_tap_and_not_to_drag(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as server:
        server.studio.store.save(Project(graph="X -> Y"), 0)
        phone = {"width": 390, "has_touch": True, "is_mobile": True}
        with opened(browser, server, "#graph", **phone) as page:
            hint = page.inner_text("#hint")
            assert hint.startswith("Tap one card")
            assert "rag" not in hint
            assert "lick" not in hint
            page.tap("[data-node=Y] .whole")
            assert "tap where" in page.inner_text("#hint")
        with opened(browser, server, "#graph") as page:
            assert page.inner_text("#hint").startswith("Drag")


def is_on_screen(page: Any, selector: str) -> bool:
    box, height = page.locator(selector).bounding_box(), page.viewport_size["height"]
    return bool(box["y"] >= 0 and box["y"] + box["height"] <= height)


def test_mechanisms_that_are_added_say_what_they_claim(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("Age,Ill,Test\n" + "a,no,\na,,x\nb,no,y\n" * 30)
    with served(tmp_path) as server:
        server.studio.store.save(Project(data="rows.csv", graph="Age -> Ill -> Test"), 0)
        with opened(browser, server, "#graph") as page:
            said = page.inner_text("#verdicts")
            assert "(MAR)" in said
            assert "MCAR" in said
            draw(page, "#add-from-complete")
            assert page.inner_text("#category") == "MAR"
            text = page.input_value("#text").splitlines()
            assert {"Age -> R[Ill]", "Age -> R[Test]"} <= set(text)
            assert not page.query_selector("#add-mechanisms")
            page.fill("#text", "Age -> Ill -> Test")
            page.wait_for_selector("#add-mechanisms")
            draw(page, "#add-mechanisms")
            assert page.inner_text("#category") == "MCAR"
            assert {"R[Ill]", "R[Test]"} <= set(page.input_value("#text").splitlines())


def test_the_code_is_that_of_the_run_that_is_shown(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("A,B\n" + "a,x\na,y\nb,y\nb,\n" * 30)
    with served(tmp_path) as server:
        project = Project(data="rows.csv", graph="A -> B", method="em", level=0.0)
        server.studio.store.save(project, 0)
        with opened(browser, server, "#learn") as page:
            page.click("#explain")  # takes no number
            page.wait_for_selector("#plan", timeout=60_000)
            for seed in ("0", "7"):
                page.fill("#seed", seed)
                page.press("#seed", "Tab")
                page.click("#learn-now")
                page.wait_for_selector("html[data-job=running]")
                page.wait_for_selector("html[data-job=done]", timeout=60_000)
                page.wait_for_selector(f"[data-run='{2 if int(seed) else 1}']")
            assert "seed 0" in page.inner_text("[data-run='1']")
            assert "seed 7" in page.inner_text("[data-run='2']")
            assert "1: seed" in page.inner_text("[data-run='2']")
            page.click("[data-run='1'] button")
            page.click("#to-code")
            page.locator("#of-run", has_text="run 1").wait_for()
            assert "--seed 0" in page.inner_text("#shell")
            assert "settings" in page.inner_text("#code-note")
            page.select_option("#code-of", "the settings as they stand")
            assert "--seed 7" in page.inner_text("#shell")
            assert "rng=7" in page.inner_text("#python")
            assert page.inner_text("#of-run") == "the settings as they stand"
            assert page.is_hidden("#code-note")


def test_the_prior_is_the_methods_own_until_one_is_chosen(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as server, opened(browser, server, "#learn") as page:
        assert page.input_value("#pseudo-counts-kind") == ""
        assert page.is_hidden("#pseudo-counts")
        for kind, kept in (("learn", "learn"), ("number", 1), ("", "")):
            page.select_option("#pseudo-counts-kind", kind)
            assert page.is_visible("#pseudo-counts") == (kind == "number")
            page.wait_for_timeout(400)
            assert server.studio.store.current()[1].pseudo_counts == kept
        page.select_option("#pseudo-counts-kind", "number")
        page.fill("#pseudo-counts", "0.5")
        page.press("#pseudo-counts", "Tab")
        page.wait_for_timeout(400)
        page.reload()
        page.wait_for_selector("html[data-ready=yes]")
        assert page.input_value("#pseudo-counts") == "0.5"


def test_a_file_is_dropped_its_plan_read_and_a_change_takes_the_plan_off(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "studio").mkdir()
    rows = tmp_path / "rows.csv"
    rows.write_text("A,B\nno,yes\nyes,no\nyes,\n,yes\n" * 20)
    with served(tmp_path / "studio") as server, opened(browser, server) as page:
        assert page.is_visible("#no-tables")
        page.set_input_files("#upload", rows)
        page.wait_for_selector("#table-facts .tiles")
        assert page.input_value("#file") == "lacunet-studio/tables/rows.csv"
        dropped = page.evaluate_handle(
            "() => { const all = new DataTransfer(); "
            "all.items.add(new File(['C\\nno\\nyes\\n'], 'other.csv')); return all }"
        )
        page.dispatch_event("#table", "drop", {"dataTransfer": dropped})
        page.wait_for_selector("#file option:checked[value$='other.csv']", state="attached")
        page.select_option("#file", "lacunet-studio/tables/rows.csv")
        page.goto(server.address + "#graph")
        page.fill("#text", "A -> B")
        page.wait_for_selector("[data-node='B']")
        page.goto(server.address + "#learn")
        page.click("#explain")
        page.wait_for_selector("#plan", timeout=60_000)
        assert "P(B | A)" in page.inner_text("#plan")
        page.select_option("#pseudo-counts-kind", "learn")
        assert not page.query_selector("#plan")


def test_the_browser_comes_from_the_file_to_the_page(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path) as server:
        page = browser.new_context().new_page()
        path = server.way_in()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        assert page.url == server.address
        assert not path.exists()
        page.reload()
        page.wait_for_selector("html[data-ready=yes]")
        page.context.close()


INTRUDER = """<p id="said">nothing</p><script>
const said = [];
try { said.push(parent.document.title); } catch { said.push("no parent"); }
try { said.push(document.cookie); } catch { said.push("no origin"); }
parent.postMessage({ question: 5 }, "*");
fetch("/state").then(() => said.push("fetched"), () => said.push("no answer"))
  .then(() => { document.getElementById("said").textContent = said.join(", "); });
</script>"""


def test_a_page_that_came_from_elsewhere_cannot_ask_the_studio(
    browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "lacunet-studio" / "runs" / "1"
    path.mkdir(parents=True)
    (path / "page.html").write_text(INTRUDER)
    about = {"name": "1", "kind": "learn", "files": ["page.html"], "words": "", "made": ""}
    more = {"project": {}, "commands": [], "notes": [], "seconds": 1}
    (path / "run.json").write_text(json.dumps(about | more))
    with served(tmp_path) as server:
        server.studio.store.save(Project(run=1), 0)
        page = browser.new_context().new_page()
        page.goto(server.address + "#ask")
        said = page.frame_locator("#asked-page").locator("#said", has_text="no answer")
        said.wait_for()
        assert said.inner_text() == "no parent, no origin, no answer"
        # Nor as a page of its own.
        with page.context.expect_page() as opening:
            page.click("#ask-words a")
        said = opening.value.locator("#said", has_text="no answer")
        said.wait_for()
        assert said.inner_text().endswith("no origin, no answer")
        assert server.token not in opening.value.url
        opening.value.reload()
        said.wait_for()
        page.context.close()
