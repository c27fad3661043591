"""Formulas in pages: how large their smallest signs are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from browsing import Opened, needs_browser

from lacunet.show.pages.kit import document, write_page

pytestmark = needs_browser

SIZES = """() => [...document.querySelectorAll("math *")].filter(e => !e.childElementCount)
  .map(e => parseFloat(getComputedStyle(e).fontSize))"""


def test_scripts_of_scripts_and_fractions_in_fractions_can_be_read(
    browser: Any, tmp_path: Path
) -> None:
    deep = "<msub><mi>x</mi><msub><mi>y</mi><msup><mi>z</mi><mn>2</mn></msup></msub></msub>"
    low = f"<mfrac><mn>1</mn><mfrac>{deep}<mn>2</mn></mfrac></mfrac>"
    sums = f"<munder><mo>∑</mo><mrow>{deep}</mrow></munder>"
    body = [f"<math>{low}</math><math display='block'>{sums}{low}</math>"]
    write_page(tmp_path / "page.html", document("formulas", body))
    with Opened(browser, tmp_path / "page.html", waits=False) as opened:
        sizes = opened.page.evaluate(SIZES)
        assert len(sizes) == 17
        assert min(sizes) >= 11
        assert max(sizes) <= 18
