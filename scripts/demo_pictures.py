"""The demonstration as two pictures: a forest plot, and a click on the page that moves beliefs.

python scripts/demo_pictures.py docs/pictures
"""

from __future__ import annotations

import re
import shutil
import sys
from html import escape
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from lacunet.demo import ComparedAnswer, demonstrate
from lacunet.show.figures.picture import SIZE, Disc, Line, Picture, Shape, Words, page_style, stroke
from lacunet.show.figures.text_width import text_width
from lacunet.show.pages.kit import asset

WIDTH, TOP, STEP, ACROSS = 720.0, 48.0, 34.0, 400.0
NUMBERS = "complete rows", "lacunet, 95% interval", "truth"
SIGHT = {"width": 860, "height": 640}
COLOURS = 40
FRAMES, SLOWLY = 14, 1.1  # of one move, and how many seconds it takes


def forest(answers: tuple[ComparedAnswer, ...]) -> Picture:
    """Truth, complete rows and lacunet with its interval, a line for each probability."""
    left = 20 + max(text_width(answer.what, SIZE) for answer in answers)
    base = TOP + STEP * len(answers)

    def pixel(value: float) -> float:
        return left + ACROSS * value

    shapes: list[Shape] = []
    for tenth in range(0, 11, 2):
        x = pixel(tenth / 10)
        shapes.append(Line(stroke((x, TOP - 8), (x, base)), "grid"))
        shapes.append(Words(x, base + 18, f"{tenth / 10:g}", "middle"))
    shapes.append(Line(stroke((left, base), (left + ACROSS, base)), "axis"))
    for number, answer in enumerate(answers):
        y = TOP + STEP * number + STEP / 2 - 4
        low, high = map(pixel, answer.interval)
        shapes += [
            Words(left - 10, y + 4, answer.what, "end"),
            Line(stroke((pixel(answer.truth), y), (pixel(answer.complete_rows), y)), "s1-2"),
            Disc(pixel(answer.complete_rows), y, 5, "dot-1", f"{answer.complete_rows:.3f}"),
            Line(stroke((low, y), (high, y)), "s0-0"),
            Line(stroke((low, y - 5), (low, y + 5)), "s0-0"),
            Line(stroke((high, y - 5), (high, y + 5)), "s0-0"),
            Disc(pixel(answer.learned), y, 4, "dot-0", f"{answer.learned:.3f}"),
            Line(stroke((pixel(answer.truth), y - 11), (pixel(answer.truth), y + 11)), "s4-0"),
        ]
    x = left
    for label, sign in zip(NUMBERS, ("dot-1", "dot-0", "s4-0"), strict=True):
        is_disc = sign.startswith("dot")
        mark = Disc(x + 5, 16, 5, sign) if is_disc else Line(stroke((x + 5, 6), (x + 5, 26)), sign)
        shapes += [mark, Words(x + 16, 20, label)]
        x += 40 + text_width(label, SIZE)
    words = "; ".join(
        f"{answer.what}: truth {answer.truth:.3f}, complete rows {answer.complete_rows:.3f}, "
        f"lacunet {answer.learned:.3f} [{answer.interval[0]:.3f}, {answer.interval[1]:.3f}]"
        for answer in answers
    )
    return Picture(max(left + ACROSS + 20, x), base + 28, tuple(shapes), words)


def in_both_colours(picture: Picture) -> str:
    """The picture as a file that takes the reader's colours, light or dark: those of the pages."""
    markup = picture.markup()
    schemes = re.findall(r":root \{([^}]*)\}", asset("page.css"))
    light, dark = (" ".join(re.findall(r"--[a-z]+: #[0-9a-f]+;", text)) for text in schemes)
    style = (
        f".chart {{ {light} }} @media (prefers-color-scheme: dark) {{ .chart {{ {dark} }} }} "
        f"text {{ fill: var(--ink); font: {SIZE:g}px Helvetica, Arial, sans-serif; }} "
        f"{page_style(markup)}"
    )
    start = f'<svg xmlns="http://www.w3.org/2000/svg" height="{picture.height:g}" '
    inside = markup.removeprefix("<svg ").replace(">", f"><style>{escape(style)}</style>", 1)
    return f"{start}{inside}\n"


def clicks(page: Path) -> list[tuple[Any, int]]:
    """Pictures of the page and how long each stays, in milliseconds, while states are clicked."""
    shots: list[tuple[Any, int]] = []
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_context(viewport=SIGHT, bypass_csp=True).new_page()
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-ready=yes]")
        tab.add_style_tag(content=f".track i {{ transition: all {SLOWLY}s linear !important; }}")
        tab.evaluate(
            "() => { const dot = document.createElement('div'); dot.id = 'pointer';"
            "Object.assign(dot.style, { position: 'fixed', width: '18px', height: '18px', "
            "borderRadius: '9px', background: '#d9730dcc', zIndex: 9, margin: '-9px', "
            "pointerEvents: 'none', left: '430px', top: '600px' }); document.body.append(dot); }"
        )

        def shoot(milliseconds: int) -> None:
            shots.append((Image.open(BytesIO(tab.screenshot())).convert("RGB"), milliseconds))

        def press(selector: str) -> None:
            box = tab.locator(selector).bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            pointer = "d => [parseFloat(d.style.left), parseFloat(d.style.top)]"
            from_x, from_y = tab.eval_on_selector("#pointer", pointer)
            for part in (0.25, 0.5, 0.75, 1.0):
                place = [from_x + part * (x - from_x), from_y + part * (y - from_y)]
                move = "(d, [x, y]) => Object.assign(d.style, { left: `${x}px`, top: `${y}px` })"
                tab.eval_on_selector("#pointer", move, place)
                shoot(60)
            shoot(400)
            tab.mouse.click(x, y)
            # Each move is stopped at its steps, so that pictures are the same on any machine.
            for frame in range(1, FRAMES + 1):
                tab.evaluate(
                    "time => document.getAnimations().forEach(a => { a.pause(); "
                    "a.currentTime = time; })",
                    1000 * SLOWLY * frame / FRAMES - 1,
                )
                shoot(60)
            tab.evaluate("document.getAnimations().forEach(a => a.finish())")
            shoot(1700)

        shoot(1500)
        press('[data-variable="Test"][data-state="positive"]')
        press('[data-variable="Symptoms"][data-state="yes"]')
        press("#clear")
        browser.close()
    return shots


def main(folder: Path) -> None:
    """Write both pictures."""
    shown = demonstrate()
    (folder / "demo-forest.svg").write_text(in_both_colours(forest(shown.answers)))
    with TemporaryDirectory() as place:
        path = Path(place) / "page.html"
        shown.result.report(path)
        shots = clicks(path)
    palette = shots[len(shots) // 2][0].quantize(COLOURS)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image, _ in shots]
    frames[0].save(
        folder / "demo-click.gif",
        save_all=True,
        append_images=frames[1:],
        duration=[time for _, time in shots],
        loop=0,
        optimize=True,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
