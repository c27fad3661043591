"""The studio as axe-core judges it; ``make accessibility`` brings that, beside the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsing import needs_browser
from serving import served
from test_studio_browser import opened

from lacunet.show.studio.project import Project

AXE = Path(__file__).parents[2] / "build" / "axe" / "package" / "axe.min.js"
pytestmark = [
    *needs_browser,
    pytest.mark.skipif(not AXE.exists(), reason="there is no axe-core: run `make accessibility`"),
]
RUN = """() => axe.run(document, { iframes: false }).then(found => found.violations
  .filter(own => ["serious", "critical"].includes(own.impact))
  .map(own => [own.id, own.nodes.map(node => `${node.target}: ${node.failureSummary}`)]))"""


def findings(page: Any) -> list[Any]:
    """What is serious or worse; the script is run as the browser's own, since pages let none in."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(RUN)
    assert isinstance(found, list)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_studio_has_no_serious_finding(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    rows = "".join(
        f"{'old' if k % 2 else 'young'},{'no,' if k % 3 else 'yes,' + 'ab'[k % 2]},{k % 5 or ''}\n"
        for k in range(150)
    )
    (tmp_path / "rows.csv").write_text("Age,Smoked,Now,Ill\n" + rows)
    with served(tmp_path) as server:
        graph = "Age -> Smoked -> Now; Ill; Age -> R[Ill]; R[Now]"
        server.studio.store.save(Project(data="rows.csv", graph=graph), 0)
        with opened(browser, server, "#states", width=width, scheme=scheme) as page:
            page.click("#find-skips")
            page.wait_for_selector("[data-skip]")
            page.click("#to-learn")
            page.click("#explain")
            page.wait_for_selector("#plan", timeout=60_000)
            assert findings(page) == []
            for _ in range(2):
                page.click("#learn-now")
                page.wait_for_selector("html[data-job=running]")
                page.wait_for_selector("html[data-job=done]", timeout=60_000)
            page.wait_for_selector(".cpt")
            page.wait_for_selector("[data-run='2']")
            for step in ("table", "states", "graph", "learn", "ask", "code"):
                page.click(f"#to-{step}")
                page.wait_for_timeout(300)
                assert findings(page) == [], step
            page.click("#to-graph")
            page.click("#edges .edge")
            page.fill("#text", "Age -> Smoked -> Age; R[Ill")
            page.wait_for_selector("#graph-error:not([hidden])")
            assert findings(page) == []
            page.fill("#text", "Age -> Smoked -> Age; R[Ill]")
            page.wait_for_selector("#board .line.wrong")
            assert findings(page) == []
