"""A project as the commands and the Python that do the same.

The studio runs these very commands. Both texts hold everything that was said on the page.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isinf
from typing import Any
from urllib.parse import unquote

from lacunet.data.bins import Bins, parse_bins
from lacunet.errors import LacunetError
from lacunet.learning.auto import Auto
from lacunet.learning.methods import options_of
from lacunet.learning.mgraph import MGraph
from lacunet.show.studio.file_proposals import USUAL_TEXT
from lacunet.show.studio.folder import PROJECT
from lacunet.show.studio.project import ANYWHERE, Project
from lacunet.show.studio.sketch import Sketch, checked_sketch
from lacunet.text import assigned, counted, finite_number, intervals_in_words, keyed

Words = list[str]
# What is known of a variable: its state, some of which it has one, or how likely each is.
Seen = str | list[str] | dict[str, float]
BESIDE = ("weight", "counts", "strata", "cluster")
LINE = 88
IMPORTS = "from pathlib import Path\n\nimport lacunet as lc\n\n"


def reading_words(project: Project) -> Words:
    """How the table is read, as options."""
    words: Words = []
    for column, codes in project.missing.items():
        listed = ",".join(map(_item, codes))
        words += ["--missing", listed if column == ANYWHERE else f"{keyed(column, '=')}={listed}"]
    return [*words, *_as_words(reading_options(project))]


def _as_words(options: Mapping[str, Any]) -> Words:
    """Options with their values, as they are typed."""
    words = [(f"--{name}".replace("_", "-"), str(value)) for name, value in options.items()]
    return [word for both in words for word in both]


def reading_options(project: Project) -> dict[str, Any]:
    """The columns beside the variables and how text is written, where that is not as usual."""
    usual = {**dict.fromkeys(BESIDE, ""), **USUAL_TEXT}
    return {name: value for name in usual if (value := getattr(project, name)) != usual[name]}


def data_options(project: Project) -> dict[str, Any]:
    """How the table is read, as `lacunet.Data` takes it."""
    missing = {name or None: list(codes) for name, codes in project.missing.items()}
    # A tab is typed as a backslash and t.
    tabbed = replace(project, delimiter=project.delimiter.replace("\\t", "\t"))
    return reading_options(tabbed) | _given(missing=missing)


def _item(text: str) -> str:
    """A name or state of a typed list or query: in quotes if it could be read in another way."""
    is_plain = text == text.strip() and not set(text) & set(',|"()')
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def building_words(project: Project, sketch: Sketch) -> Words:
    """What is said of the states of the variables, as options."""
    words: Words = []
    restricted = project.only(sketch.variables)
    for name, states in restricted.states.items():
        words += ["--states", f"{keyed(name, '=')}={','.join(map(_item, states))}"]
    for name, bins in restricted.bins.items():
        words += ["--bins", f"{keyed(name, '=')}={bins}"]
    for name, rule in restricted.not_asked.items():
        words += ["--not-asked", f"{keyed(name, ':')}: {rule}"]
    return words


def network_words(project: Project, folder: str) -> Words:
    """The command that makes the network of the table."""
    sketch = checked_sketch(project.graph)
    words = ["convert", sketch.edges_typed, project.data]
    words += building_words(project, sketch)
    return [*words, *reading_words(project), "-o", f"{folder}/network.json"]


def learn_words(project: Project, folder: str) -> Words:
    """The command that learns the CPTs and draws their page."""
    words = ["learn", f"{folder}/network.json", project.data, *learning_words(project)]
    if project.level:
        words += ["--intervals", "--level", str(project.level)]
    return [*words, "-o", f"{folder}/learned.json", "--report", f"{folder}/page.html"]


def learning_words(project: Project) -> Words:
    """How the table is read and the CPTs are learned, as options."""
    options = learning_options(project) | {"seed": project.seed}
    return [*reading_words(project), *_as_words(options)]


def learning_options(project: Project) -> dict[str, Any]:
    """How the CPTs are learned, where something is said of it."""
    graph = missingness_of(project)
    return _given(method=project.method, missingness=graph, pseudo_counts=project.pseudo_counts)


def explain_words(project: Project, folder: str) -> Words:
    """The command that says how the CPTs would be learned, and from which rows."""
    return ["explain", f"{folder}/network.json", project.data, *learning_words(project), "--json"]


def query_words(project: Project, folder: str) -> Words:
    """The command that answers the question from what was learned."""
    targets, evidence, do = question_in_address(
        project.asked, checked_sketch(project.graph).variables
    )
    each = [_evidence_item(name, state) for name, state in evidence.items()]
    each += [f"do({_item(name)}={_item(state)})" for name, state in do.items()]
    given = ",".join(each)
    words = ["query", f"{folder}/learned.json"]
    words += [f"{_item(target)}|{given}" if given else _item(target) for target in targets]
    words += _as_words(_given(level=project.level or None))
    return words if targets else []


def diagnose_words(project: Project, folder: str) -> Words:
    """The command that says what is missing, and on what that depends."""
    network = f"{folder}/network.json"
    written = ["--report", f"{folder}/page.html", "--missingness-out", f"{folder}/graph.txt"]
    return ["diagnose", network, project.data, *reading_words(project), *written]


def structure_words(project: Project, folder: str, columns: Sequence[str]) -> Words:
    """The command that learns arcs among the variables of the graph."""
    sketch = checked_sketch(project.graph)
    beside = [getattr(project, name) for name in BESIDE]
    without = [name for name in columns if name not in sketch.variables and name not in beside]
    words = ["structure", project.data, *reading_words(project)]
    if without:
        words += ["--without", ",".join(map(_item, without))]
    words += building_words(project, sketch)
    return [*words, "--seed", str(project.seed), "-o", f"{folder}/network.json"]


def beside_words(first: str, second: str, folder: str) -> Words:
    """The command that shows two results on one page."""
    page = ["--page", f"{folder}/page.html", "--beside", f"{second}/learned.json"]
    return ["show", f"{first}/learned.json", *page]


def learning_text(project: Project) -> str:
    """What learning will do, in words that tell one result from another."""
    sketch = checked_sketch(project.graph)
    size = f"{counted(len(sketch.variables), 'variable')}, {counted(len(sketch.edges), 'arrow')}"
    level = f", {intervals_in_words(project.level)}" if project.level else ""
    method = project.method or (MGraph.name if missingness_of(project) else Auto.name)
    added = "usual pseudo-counts"
    if project.pseudo_counts:
        added = "learned pseudo-counts"
    if isinstance(project.pseudo_counts, int | float):
        added = f"pseudo-counts {project.pseudo_counts:g}"
    settings = f"{method}, {added}{level}, seed {project.seed}"
    return f"{project.data.rpartition('/')[-1]}, {size}: {settings}"


def missingness_of(project: Project) -> str:
    """The missingness graph that learning takes: none for methods that know of no mechanisms.

    Raises
    ------
    LacunetError
        Two variables share a hidden cause, and what the method learns would not know of it.
    """
    sketch = checked_sketch(project.graph)
    if not project.method or "missingness" in options_of(project.method):
        return sketch.mechanisms_text
    if hidden := sketch.hidden_causes:
        raise LacunetError(
            f"{project.method} takes no graph, so its result would not know that variables share "
            f"a hidden common cause ({'; '.join(hidden)}).",
            f"choose {MGraph.name}, or take the hidden cause out of the graph.",
        )
    return ""


def question_in_address(
    asked: str, variables: Sequence[str]
) -> tuple[list[str], dict[str, Seen], dict[str, str]]:
    """The variables asked about, the evidence and what is set, from the end of the page's address.

    A variable that is named again has one of several states; ``X~x=0.8`` is how likely what was
    observed is in a state. Without a chosen variable all that have no evidence are asked about;
    none without evidence.
    """
    states_of = dict[str, list[str]]()
    do = dict[str, str]()
    chosen = ""
    likelihoods = dict[str, dict[str, float]]()
    for part in filter(None, asked.removeprefix("#").split("&")):
        name, sign, state = part.partition("=")
        inside = name.removeprefix("do(").removesuffix(")")
        weighed, tilde, of = name.partition("~")
        if sign and name == f"do({inside})" and unquote(name) not in variables:
            do[unquote(inside)] = unquote(state)
        elif sign and tilde and unquote(name) not in variables:
            likelihoods.setdefault(unquote(weighed), {})[unquote(of)] = _weight(state)
        elif sign:
            states_of.setdefault(unquote(name), []).append(unquote(state))
        else:
            chosen = unquote(name)
    evidence: dict[str, Seen] = {
        name: states[0] if len(states) == 1 else states for name, states in states_of.items()
    }
    evidence |= likelihoods
    known = {*evidence, *do}
    if chosen and chosen not in known:
        return [chosen], evidence, do
    return [name for name in variables if known and name not in known], evidence, do


def _weight(text: str) -> float:
    weight = finite_number(text)
    if weight is None:
        raise LacunetError(f"the likelihood {text!r} of the address is not a number.")
    return weight


def _evidence_item(name: str, state: Seen) -> str:
    """What is given of a variable, as a query in the shell has it."""
    if isinstance(state, str):
        return f"{_item(name)}={_item(state)}"
    return _item(name) + assigned("", state)


def code_of(projects: Sequence[Project]) -> dict[str, str]:
    """The whole work of a project, or of two side by side, as shell commands and as Python."""
    if len(projects) == 1:
        (project,) = projects
        return {"shell": shell_text(project, PROJECT), "python": python_text(project, PROJECT)}
    folders = [f"{PROJECT}/first", f"{PROJECT}/second"]
    texts = [shell_text(*pair) for pair in zip(projects, folders, strict=True)]
    texts.append(_command(beside_words(folders[0], folders[1], PROJECT)) + "\n")
    first, second = (python_text(*pair) for pair in zip(projects, folders, strict=True))
    python = [first + "first = result\n", second.removeprefix(IMPORTS)]
    python.append(f"first.show(result).write({PROJECT + '/page.html'!r})\n")
    return {"shell": "\n".join(texts), "python": "\n".join(python)}


def shell_text(project: Project, folder: str) -> str:
    """The whole work as shell commands."""
    commands = [network_words(project, folder), learn_words(project, folder)]
    commands += filter(None, [query_words(project, folder)])
    lines = [f"mkdir -p {shlex.quote(folder)}", *(_command(words) for words in commands)]
    return "\n".join(lines) + "\n"


def _command(words: Words) -> str:
    """A command on lines that break before options."""
    lines = [""]
    for word in ["lacunet", *words]:
        quoted = shlex.quote(word)
        if word.startswith("--") and len(lines[-1]) + len(quoted) > LINE / 2:
            lines.append("   ")
        lines[-1] += f" {quoted}" if lines[-1] else quoted
    return " \\\n".join(lines)


def python_text(project: Project, folder: str) -> str:
    """The whole work as Python."""
    sketch = checked_sketch(project.graph)
    graph = missingness_of(project)
    restricted = project.only(sketch.variables)
    level = project.level or None
    states = {name: list(states) for name, states in restricted.states.items()}
    bins = {name: _written(parse_bins(name, typed)) for name, typed in restricted.bins.items()}
    data = data_options(project)
    data |= _given(not_asked=restricted.not_asked, states=states, bins=bins)
    learning = learning_options(project) | {"rng": project.seed, "intervals": bool(level)}
    report = _given(missingness=graph, level=level)
    lines = [
        f"{IMPORTS}Path({folder!r}).mkdir(parents=True, exist_ok=True)",
        _call("data = lc.Data", [project.data], data),
        _call("network = lc.Network.from_data", [_Name("data"), sketch.edges_text], {}),
        _call("result = lc.learn", [_Name("network"), _Name("data")], learning),
        "print(result)",
        _call("result.write", [f"{folder}/learned.json"], {}),
        _call("result.report", [f"{folder}/page.html", _Name("data")], report),
    ]
    targets, evidence, do = question_in_address(project.asked, sketch.variables)
    if targets:
        asked: list[Any] = [_Name("name")]
        if evidence:
            asked.append(evidence)
        answer = _call("result.query", asked, _given(do=do, level=level))
        lines += [f"for name in {targets}:", f"    print({answer})"]
    return "\n".join(lines) + "\n"


def _given(**named: Any) -> dict[str, Any]:
    """The arguments that have a value."""
    return {name: value for name, value in named.items() if value not in ("", None, {})}


class _Name(str):
    """A name or an expression in a program, in place of a string."""

    __slots__ = ()
    __repr__ = str.__str__


def _written(bins: Bins) -> Any:
    """Bins as a program has them: there infinity is not a literal."""
    if not isinstance(bins, list):
        return bins
    return [_Name(f'float("{cut}")') if isinf(cut) else cut for cut in bins]


def _call(function: str, values: Sequence[Any], named: Mapping[str, Any]) -> str:
    """A call, on one line if it fits."""
    parts = [*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= LINE:
        return line
    return f"{function}(\n" + "".join(f"    {part},\n" for part in parts) + ")"
