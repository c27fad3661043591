"""Every block of code of the book runs as it stands, or says why it is not run."""

from __future__ import annotations

import contextlib
import inspect
import re
import runpy
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

import lacunet
from lacunet import plots
from lacunet.cli.parsing import COMMANDS, parse_command_line

ROOT = Path(__file__).parent.parent
PAGES = (
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "studies" / "README.md"),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "studies" / "pages").glob("*.md")),
)
book = runpy.run_path(str(ROOT / "docs" / "blocks.py"))
blocks, refreshed, notebook = book["blocks"], book["refreshed"], book["notebook"]
check_links = runpy.run_path(str(ROOT / "scripts" / "check_links.py"))
NOT_CODE = {"text", "json", "mermaid"}  # output, data and drawings
SLOW = {"09-how-sure.md"}  # simulates 240 clinics


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_that_run() -> list[object]:
    return [
        pytest.param(page, id=name_of(page), marks=[pytest.mark.slow] * (page.name in SLOW))
        for page in PAGES
        if page.name != "howto.md" and any(block.is_run for block in blocks(page.read_text()))
    ]


@pytest.mark.parametrize("page", pages_that_run())
def test_every_block_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # as if pasted: nothing of the repository is at hand
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = page.read_text()
    assert refreshed(text) == text, "python docs/blocks.py brings the page up to date"


def test_what_a_block_warns_of_or_prints_is_written_below_it() -> None:
    page = (
        "```python\nimport warnings\nfrom lacunet import LacunetWarning\n"
        "print(1)\nwarnings.warn(LacunetWarning('mind'))\nwarnings.warn('another library')\n```\n"
    )
    shown = f"{page.rstrip()}\n```text\n1\nLacunetWarning: mind\n```\n"
    assert refreshed(page) == shown
    assert refreshed(shown.replace(": mind", ": old")) == shown


def test_the_contents_of_the_book_have_at_most_thirty_entries() -> None:
    page = (ROOT / "docs" / "index.md").read_text()
    contents = [block.text for block in blocks(page) if block.kind == "{toctree}"]
    lines = [line for text in contents for line in text.splitlines()]
    entries = [line for line in lines if line and not line.startswith(":")]
    assert len(contents) == 5
    assert all([*(ROOT / "docs").glob(f"{entry}.*")] for entry in entries)
    assert len(entries) <= 30


def recipes() -> list[str]:
    page = (ROOT / "docs" / "howto.md").read_text()
    sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    return [one for one in sections if any(block.is_run for block in blocks(one))]


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.split("\n")[0])
def test_every_recipe_stands_alone(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refreshed(recipe)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_block_that_is_not_run_says_why(page: Path) -> None:
    for block in blocks(page.read_text()):
        is_directive = block.kind.startswith("{") and block.kind != "{code-cell}"
        is_output = block.kind == "console" and page.name == "README.md"  # run by test_readme.py
        if not (is_directive or is_output or block.kind in NOT_CODE):
            assert block.is_run or block.reason, f"{block.kind}: {block.text}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_import_public_names_only(page: Path) -> None:
    text = "".join(block.text for block in blocks(page.read_text()))
    homes = set(re.findall(r"(?:from|import) lacunet\.([a-z_.]+)", text))
    assert homes <= {"plots", "sklearn"}


def command_lines(page: str) -> Iterator[tuple[list[str], bool]]:
    """The words of every command of lacunet that a page shows, and whether within the text."""
    page = page.replace("\\\n", " ")
    fenced = re.findall(r"^(?:\$ |    )?(lacunet [a-z]+ [^`\n]*)$", page, flags=re.MULTILINE)
    inline = re.findall(r"(?<!`)`(lacunet [a-z]+ [^`]*)`(?!`)", page)
    for at, line in enumerate((*fenced, *inline)):
        words = shlex.split(line.replace("\n", " "), comments=True)[1:]
        ends = [end for end, word in enumerate(words) if word in ("|", "&&", ">")]
        yield words[: ends[0]] if ends else words, at >= len(fenced)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_line_shown_is_one_that_the_program_takes(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, is_within_text in command_lines(page.read_text()):
        if words[0] in COMMANDS and "..." not in words:
            with contextlib.suppress(SystemExit):
                parse_command_line(words)
            printed = capsys.readouterr().err
            # A command may be named in the text without its files.
            is_named = is_within_text and "error: give " in printed
            assert not printed or is_named, words


def test_the_notebook_of_a_page_has_its_cells_and_no_stored_output() -> None:
    page = (
        "# Title\n\n```python\nprint(1)\n```\n```text\n1\n```\nSee [methods](methods.md#em).\n\n"
        "```{code-cell} ipython3\n:tags: [hide-cell]\n2 + 2\n```\n"
        "<!-- not run: yours -->\n```console\n$ lacunet demo\n```\n"
    )
    made = notebook(page)
    assert [(cell["cell_type"], cell["source"]) for cell in made["cells"]] == [
        ("markdown", "# Title"),
        ("code", "print(1)"),
        ("markdown", "See methods."),
        ("code", "2 + 2"),
        ("markdown", "<!-- not run: yours -->\n```console\n$ lacunet demo\n```"),
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", prose, flags=re.MULTILINE):
        cells = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(cells) == 1, table


def test_links_out_of_the_repository_are_https_to_known_hosts_in_one_spelling() -> None:
    problems, links_in = check_links["problems"], check_links["links_in"]
    assert problems(check_links["collected"]()) == []
    found = problems(
        {link: ["x.md"] for link in links_in("http://pypi.org/a https://pipy.org/a/.")}
    )
    assert len(found) == 2  # not https, and a host that nobody has looked at
    same = {"https://pypi.org/a": ["x.md"], "https://pypi.org/a/#b": ["y.md"]}
    assert problems(same) == [f"{', '.join(same)}: one address in two spellings"]


def test_the_notebook_goes_on_after_an_error_that_its_page_shows() -> None:
    page = "```python\n1 / 0\n```\n```text\nMathError: no\n```\n```python\n2\n```\n"
    cells = notebook(page)["cells"]
    assert [cell["metadata"] for cell in cells] == [{"tags": ["raises-exception"]}, {}]


MISTAKES = "mistakes.md"  # it is about errors


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != MISTAKES], ids=name_of)
def test_a_page_raises_nothing_when_it_is_pasted_as_a_whole(page: Path) -> None:
    cells = notebook(page.read_text())["cells"]
    assert not [cell["source"] for cell in cells if cell["metadata"].get("tags")]


REFERENCE = sorted((ROOT / "docs" / "reference").glob("api-*.rst"))


def test_the_map_of_the_code_names_files_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py|\.js)?)`", page))
    assert len(named) > 30
    rooms = (ROOT / "src" / "lacunet", ROOT)
    assert not [path for path in named if not any((room / path).exists() for room in rooms)]


def test_every_public_name_is_in_one_group_of_the_reference() -> None:
    texts = [page.read_text().split(".. public-names::") for page in REFERENCE]
    names = [name for text in texts if len(text) > 1 for name in text[1].split()]
    assert sorted(name for name in names if "." not in name) == sorted(lacunet.__all__)
    assert len({*names}) == len(names)
    for room, _, name in (f"lacunet.{name}".rpartition(".") for name in names if "." in name):
        value = getattr(import_module(room), name)
        assert inspect.isclass(value)
        assert value.__module__ == room


def test_every_plot_has_its_picture_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "api-plots.rst").read_text()
    shown = re.findall(r"autofunction:: lacunet\.plots\.(\w+)\n\n\.\. image:: (\S+)\n", page)
    assert [name for name, _ in shown] == plots.__all__
    assert all((ROOT / "docs" / "reference" / picture).exists() for _, picture in shown)


@pytest.mark.parametrize(
    "page", [page for page in REFERENCE if "code-block" in page.read_text()], ids=name_of
)
def test_the_example_of_a_group_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^.. code-block:: python\n((?: {3}.*\n|\n)+)", page.read_text(), re.M)
    exec(compile(dedent(code), page.name, "exec"), {})


def test_a_block_that_raises_without_showing_it_is_found() -> None:
    page = "```python\nimport lacunet\nlacunet.example('nobody')\n```\n"
    with pytest.raises(ValueError, match="nobody"):
        refreshed(page)


def test_each_of_the_twenty_mistakes_is_answered_with_an_error_and_a_way_out() -> None:
    text = (ROOT / "docs" / "mistakes.md").read_text()
    answers = [block.split("```")[0] for block in text.split("```text\n")[1:]]
    assert len(answers) == 20
    for answer in answers:
        assert "Error: " in answer
        assert "\nHint: " in answer
