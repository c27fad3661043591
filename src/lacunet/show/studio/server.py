"""The studio's server: loopback only, and only for the page that it gave the token to.

Every request names the server's own host, comes from no other site, and carries the token: in a
header for what the page asks, in the address only where the browser opens the page itself. Files of
a run have an address with a key of that run. They may have come from elsewhere, with the folder, so
the browser shows them in a sandbox: their scripts have an origin of their own, and know no token.
Nothing allows other origins to read an answer.
"""

from __future__ import annotations

import json
import os
import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

from lacunet.data.bins import parse_bins
from lacunet.data.data import Data
from lacunet.data.errors import DataWarning
from lacunet.data.network_from_data import find_network
from lacunet.data.proposals import skips_in
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.inference.answer import DEFAULT_LEVEL, Answer, notes_of
from lacunet.inference.query import query
from lacunet.learning.methods import METHODS
from lacunet.learning.result import Result, read_learned
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.formats.files import as_network, read_network
from lacunet.network.network import Network, Scope
from lacunet.network.nodes import node_text
from lacunet.plots import network_figure
from lacunet.show.studio.column_proposals import (
    ReadColumns,
    columns_as_data,
    columns_to_propose_for,
    cut_labels,
)
from lacunet.show.studio.commands import (
    beside_words,
    code_of,
    data_options,
    diagnose_words,
    explain_words,
    learn_words,
    learning_text,
    missingness_of,
    network_words,
    question_in_address,
    structure_words,
)
from lacunet.show.studio.file_proposals import proposed_reading
from lacunet.show.studio.folder import Folder, OutsideError
from lacunet.show.studio.learned_summary import differences, summary_of
from lacunet.show.studio.offered_examples import OFFERED_EXAMPLES, as_csv
from lacunet.show.studio.project import Project, StaleError, Store, project_from
from lacunet.show.studio.runs import AskedRun, BusyError, Runs
from lacunet.show.studio.sketch import Sketch, checked_sketch, draw_sketch, sketch_of, sketch_text
from lacunet.show.studio.studio_page import studio_page, way_in_page
from lacunet.text import finite

HOST = "127.0.0.1"
MOST_BYTES = 2**20  # of a request
MOST_UPLOADED, PIECE = 2**28, 2**20  # bytes of a table that the browser brings, at a time
MOST_DIGITS = 20  # of the length of a request
SECONDS_OF_SILENCE = 60.0  # seconds that a connection may be silent
MOST_ANSWERS = 12  # to one question
HTML, JSON, PLAIN = "text/html", "application/json", "text/plain"
KIND_OF = {".html": HTML, ".json": JSON, ".txt": PLAIN}
KIND_OF |= {".svg": "image/svg+xml", ".pdf": "application/pdf"}
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Nothing runs; and of a run's page only what it brings itself, without the studio's origin.
NOTHING_RUNS = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
IN_A_SANDBOX = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
# The methods of a studio that are asked for by their names, without and with something said.
METHODS_WITH_BODY = ("state", "job", "export")
ON_TABLES = ("reading", "look", "intervals", "skips")
ON_PROJECTS = ("project", "graph", "run", "cancel", "adopt", "answers", "example")
ON_RUNS = ("summary", "compare", "rename", "delete")


class RefusedError(LacunetError):
    """A request that is not answered; ``status`` says why."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class Studio:
    """A project, what was looked at for it, and its runs: what the server answers from."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.store = Store(folder.project / "project.json")
        self.runs = Runs(folder.root, folder.below_project("runs"))
        self._tables: dict[tuple[object, ...], ReadColumns] = {}
        self._skips: tuple[object, dict[str, int]] = ((), {})  # the rules looked at last
        self._results: dict[str, Result | Network] = {}  # the one that was asked last
        self._reading = Lock()

    def state(self) -> dict[str, Any]:
        """Everything that the page shows when it is opened."""
        version, project = self.store.current()
        return {
            "version": version,
            "project": asdict(project),
            "folder": str(self.folder.root),
            "files": self.folder.tables(),
            "methods": list(METHODS),
            "examples": {name: example.words for name, example in OFFERED_EXAMPLES.items()},
            "runs": [{**run, "key": self.runs.key(run["name"])} for run in self.runs.finished()],
            "job": self.job(),
        }

    def job(self) -> dict[str, Any] | None:
        """How far the run is that is going on, or how the last one ended."""
        return None if self.runs.job is None else self.runs.job.as_data()

    def project(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Keep what was changed on the page."""
        return {"version": self.store.save(project_from(asked["project"]), asked["version"])}

    def look(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The columns of the table that a project names, and who was not asked by its rules."""
        project = project_from(asked["project"])
        columns = columns_as_data(self._table(project))
        with suppress(LacunetError):  # rules that do not fit are refused where they are used
            return {**columns, "skipped": self._skipped(project)}
        return {**columns, "skipped": {}}

    def reading(self, asked: dict[str, Any]) -> dict[str, Any]:
        """How a table seems to be written."""
        return dict(proposed_reading(self.folder.table(str(asked["data"]))))

    def intervals(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The intervals that a column of numbers is cut into."""
        project, name = project_from(asked["project"]), str(asked["column"])
        return {"labels": list(cut_labels(self._data(project), name, str(asked["bins"])))}

    def skips(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Questions that seem not to have been asked under some states of others."""
        project = project_from(asked["project"])
        sketch = checked_sketch(project.graph)
        network, table = self._encoded(project, sketch, {})
        copies = None if table.copies is None else table.copies.rows
        skips = skips_in(network, table.columns, copies)
        new = [skip for skip in skips if skip.variable not in project.not_asked]
        ruled = sketch.with_rules({skip.variable: skip.rule for skip in new}).rules
        return {"skips": [{**asdict(skip), "edges": _into(skip.variable, ruled)} for skip in new]}

    def graph(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The drawing of a text, and what can be recovered under it."""
        project = project_from(asked["project"])
        sketch = sketch_of(project.graph)
        if not sketch.variables:
            return {"variables": [], "mechanisms": [], "edges": [], "wrong": [], "verdicts": []}
        states_of: dict[str, Scope] = {}
        columns: list[str] = []
        with suppress(OutsideError, KeyError):  # a graph can be drawn without a table
            table = self._tables[self._key(project)]
            columns = [*table.seen]
            states_of = {v: table.states(v) for v in sketch.variables if v in table.seen}
        with_rules = sketch.with_rules(project.not_asked, columns)
        return draw_sketch(with_rules, {**states_of, **project.states})

    def run(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Start the commands of some kind of work on the project as it is kept."""
        version, project = self.store.current()
        if asked["version"] != version:
            raise StaleError
        kind = str(asked["kind"])
        if project.draft and kind != "beside":
            raise LacunetError("the text of the graph cannot be read.", "mend it, or undo.")
        name = self.runs.next_name(kind)
        folder = self.runs.path(name)
        if kind == "beside":
            task = self._two_runs(asked["runs"], folder)
        else:
            task = self._work_on(project, kind, folder)
        self.runs.start(name, task)
        return {"name": name}

    def _two_runs(self, numbers: Sequence[Any], folder: str) -> AskedRun:
        """What shows the results of two runs on one page."""
        learned = [self.runs.known(str(int(number)))["name"] for number in numbers]
        for run in learned:
            self.runs.file(run, "learned.json")  # refused where a link leads elsewhere
        first, second = map(self.runs.path, learned)
        words = " beside ".join(f"run {run}" for run in learned)
        return AskedRun("beside", [beside_words(first, second, folder)], words, {"beside": learned})

    def _work_on(self, project: Project, kind: str, folder: str) -> AskedRun:
        """What learns from a project, or looks at it."""
        table = self.folder.table(project.data)
        commands = self._commands(kind, project, folder)
        if kind != "learn":
            return AskedRun(kind, commands)
        return AskedRun(
            kind,
            commands,
            words=learning_text(project),
            about={"project": asdict(project), "table": _stamp(table)},
            after=partial(_keep_graph, missingness_of(project), project.level),
        )

    def _commands(self, kind: str, project: Project, folder: str) -> list[list[str]]:
        if kind == "structure":
            return [structure_words(project, folder, list(self._table(project).seen))]
        ends = {"learn": learn_words, "diagnose": diagnose_words, "explain": explain_words}
        return [network_words(project, folder), ends[kind](project, folder)]

    def cancel(self, _: dict[str, Any]) -> dict[str, Any]:
        """End the run that is going on."""
        self.runs.cancel()
        return {}

    def adopt(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The graph with what a run found in it: arcs in place of the edges, or mechanisms."""
        name = str(asked["name"])
        kept = checked_sketch(self.store.current()[1].graph)
        if asked["kind"] == "structure":
            network = read_network(self.runs.file(name, "network.json"))
            return {"graph": sketch_text(network, kept.mechanisms)}
        sketch = sketch_of(self.runs.file(name, "graph.txt").read_text(encoding="utf-8"))
        return {"graph": sketch_text(kept, sketch.mechanisms)}

    def answers(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What a run says of the variables that its page is asked about, with intervals."""
        name = str(int(asked["number"]))
        learned = self._learned(name)
        network = as_network(learned)
        targets, evidence, do = question_in_address(str(asked["asked"]), network.variables)
        if len(targets) > MOST_ANSWERS:
            raise LacunetError("these are too many answers.", "click the name of one variable.")
        level = 0.0
        chance = ""
        if isinstance(learned, Result) and learned.uncertainty is not None:
            chance = learned.uncertainty.chance
            level = self._level(name)
        answers = [
            query(learned, name, evidence, do=do, level=level or 0.95, unsupported="ignore")
            for name in targets
        ]
        conditions = evidence | {f"do({name})": state for name, state in do.items()}
        return {
            "level": level,
            "chance": chance,
            "evidence": conditions,
            "answers": [*map(_as_data, answers)],
        }

    def example(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Put a bundled table into the folder; its name there, and the graph to begin with."""
        name = str(asked["name"])
        path = self.folder.add_table(f"{name}.csv", [as_csv(name)])
        return {"data": path, "graph": OFFERED_EXAMPLES[name].graph}

    def summary(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What a run learned, CPT by CPT."""
        name = str(int(asked["name"]))
        return summary_of(self._learned(name), self._level(name))

    def compare(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Where two runs differ most."""
        first, second = (str(int(name)) for name in asked["runs"])
        learned = read_learned(self.runs.file(first, "learned.json")), self._learned(second)
        return differences(*learned, (self._level(first), self._level(second)))

    def _level(self, name: str) -> float:
        """The level of the intervals of a run; 0 for none."""
        return project_from(self.runs.known(name)["project"]).level

    def rename(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Call a run by a name of the user's."""
        self.runs.rename(str(int(asked["name"])), str(asked["label"]))
        return {}

    def delete(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Take a run away, with its files."""
        name = str(int(asked["name"]))
        self.runs.remove(name)
        with self._reading:
            self._results.pop(name, None)
        return {}

    def _learned(self, name: str) -> Result | Network:
        """What a run learned; the last one asked for is not read again."""
        path = self.runs.file(name, "learned.json")
        with self._reading:
            if name not in self._results:
                self._results = {name: read_learned(path)}
            return self._results[name]

    def export(self) -> dict[str, Any]:
        """The commands and the Python that do what the page does.

        First those of the run that is shown, as it was learned, with the question that it is
        asked now; then those of the settings as they stand, where these are others.
        """
        _, project = self.store.current()
        run_of = {run["name"]: run for run in self.runs.finished()}
        shown = run_of.get(str(project.run))
        if shown is None:
            return {"codes": [self._as_they_stand(project)]}
        names = shown.get("beside", [shown["name"]])
        runs = [run_of[name] for name in names if name in run_of]
        if not runs or len(runs) < len(names):  # what it shows was deleted
            return {"codes": [self._as_they_stand(project)]}
        learned = [replace(project_from(run["project"]), asked=project.asked) for run in runs]
        codes = [{"title": f"run {project.run}", "note": self._since(runs), **code_of(learned)}]
        if all(_settings(project) != _settings(earlier) for earlier in learned):
            with suppress(LacunetError):  # the steps say what is wrong with them
                codes.append(self._as_they_stand(project))
        return {"codes": codes}

    def _as_they_stand(self, project: Project) -> dict[str, Any]:
        """The code of a project's settings."""
        self.folder.table(project.data)  # refuses a table that is not there
        return {"title": "the settings as they stand", "note": "", **code_of([project])}

    def _since(self, runs: Sequence[Mapping[str, Any]]) -> str:
        """What was changed since runs were made: the commands cannot give their numbers then."""
        for run in runs:
            data = run["project"]["data"]
            try:
                stamp = _stamp(self.folder.table(data))
            except LacunetError as error:
                return error.message
            if stamp != run["table"]:
                return f"{data} was changed after run {run['name']}: its numbers may be others now."
        return ""

    def _encoded(
        self, project: Project, sketch: Sketch, rules: Mapping[str, str]
    ) -> tuple[Network, EncodedTable]:
        """The variables of a sketch, and the rows as their states."""
        data = self._data(project)
        restricted = project.only(sketch.variables)
        bins = {name: parse_bins(name, typed) for name, typed in restricted.bins.items()}
        given = replace(data, states=restricted.states, bins=bins, not_asked=rules)
        network = find_network(given, sketch.edges_text).network
        with warnings.catch_warnings(action="ignore", category=DataWarning):  # other columns
            return network, read_table(data, network)

    def _skipped(self, project: Project) -> dict[str, int]:
        """How many rows of each variable have its question not asked, by the project's rules."""
        variables = tuple(self._table(project).seen)
        known = Sketch(variables, (), ()).with_rules(project.not_asked)
        pairs = known.rules.items()
        ruled = tuple(dict.fromkeys(v for name, causes in pairs for v in (name, *causes)))
        if not ruled:
            return {}
        sketch = replace(known, variables=ruled, edges=tuple(known.lacking))
        restricted = project.only(ruled)
        settings = restricted.states, restricted.bins, restricted.not_asked
        key = (*self._key(project), repr(settings))
        with self._reading:
            if self._skips[0] != key:
                network, table = self._encoded(project, sketch, restricted.not_asked)
                states = {name: rule.state for name, rule in network.not_asked_of.items()}
                self._skips = (
                    key,
                    {
                        name: int(np.sum(table.columns[name] == network.state_index(name, state)))
                        for name, state in states.items()
                    },
                )
            return self._skips[1]

    def _data(self, project: Project) -> Data:
        return Data(self.folder.table(project.data), **data_options(project))

    def _key(self, project: Project) -> tuple[object, ...]:
        return (*project.reading, *_stamp(self.folder.table(project.data)))

    def _table(self, project: Project) -> ReadColumns:
        key = self._key(project)
        with self._reading:
            if key not in self._tables:
                self._tables = {key: columns_to_propose_for(self._data(project))}
            return self._tables[key]


def _into(name: str, causes_of: Mapping[str, Scope]) -> list[list[str]]:
    """The edges into a variable from what decides on whether its question was asked."""
    return [[node_text(cause), "->", node_text(name)] for cause in causes_of[name]]


def _stamp(path: Path) -> list[int]:
    """What changes with a file."""
    about = path.stat()
    return [about.st_size, about.st_mtime_ns]


def _settings(project: Project) -> Project:
    """The project without what is asked of its results, or not yet said."""
    return replace(project, asked="", run=0, draft="")


def _as_data(answer: Answer) -> dict[str, Any]:
    """The answer about one variable as the page shows it."""
    (name,) = answer.variables
    size = len(answer)
    ends = [[None, None]] * size if answer.level is None else answer.interval.tolist()
    both = zip(answer.items(), ends, strict=True)
    rows = [[state, value, low, high] for (state, value), (low, high) in both]
    return {"name": name, "rows": rows, "notes": notes_of(answer)}


def _keep_graph(graph: str, level: float, folder: Path) -> None:
    """Put the figure of what was learned into its folder, its mechanisms and methods as text."""
    learned = read_learned(folder / "learned.json")
    network = as_network(learned)
    figure = network_figure(learned, missingness=graph or None)
    figure.write(folder / "network.svg")
    if find_spec("matplotlib"):
        figure.write(folder / "network.pdf")
    if graph:
        MissingnessGraph.parse(graph, network).write(folder / "graph.txt")
    if isinstance(learned, Result):
        text = learned.methods_text(level or DEFAULT_LEVEL)
        (folder / "methods.txt").write_text(text + "\n", encoding="utf-8")


class Handler(BaseHTTPRequestHandler):
    """Takes requests for the studio of a server."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "lacunet", ""
    server: Server

    def do_GET(self) -> None:
        """Answer what the browser opens, and questions that change nothing."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Answer what the page asks with something said."""
        self._answer(self._post)

    def setup(self) -> None:
        """Begin a connection; one that is silent for too long is closed."""
        super().setup()
        self.connection.settimeout(self.server.patience)

    def _answer(self, act: Callable[[str], tuple[str, bytes]]) -> None:
        try:
            path, words = _address(self.path)
            self.server.check(self.headers, path, words)
            self._send(HTTPStatus.OK, *act(path))
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True
        except LacunetError as error:
            status = HTTPStatus.BAD_REQUEST
            if isinstance(error, RefusedError):
                self.close_connection = True
                status = error.status
            elif isinstance(error, StaleError | BusyError):
                status = HTTPStatus.CONFLICT
            self._send(status, JSON, _json({"error": error.message, "hint": error.hint}))
        except OSError as error:
            refusal = {"error": f"a file cannot be used: {error.strerror}.", "hint": ""}
            self._send(HTTPStatus.BAD_REQUEST, JSON, _json(refusal))
        except (LookupError, TypeError, ValueError, OverflowError, RecursionError):
            refusal = {
                "error": "the request, or a file of the project, lacks something.",
                "hint": "",
            }
            self._send(HTTPStatus.BAD_REQUEST, JSON, _json(refusal))

    def _get(self, path: str) -> tuple[str, bytes]:
        studio = self.server.studio
        if path == "/":
            self.server.opened()
            return HTML, studio_page(self.server.token).encode()
        if path[1:] in METHODS_WITH_BODY:
            return JSON, _json(getattr(studio, path[1:])())
        if run := _run_in(path):
            file = studio.runs.file(*run)
            return KIND_OF[file.suffix], file.read_bytes()
        raise RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here.")

    def _post(self, path: str) -> tuple[str, bytes]:
        studio = self.server.studio
        if path == "/upload":
            return JSON, _json({"data": studio.folder.add_table(*self._uploaded())})
        asked = self._body()
        if path[1:] not in (*ON_TABLES, *ON_PROJECTS, *ON_RUNS):
            raise RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here.")
        return JSON, _json(getattr(studio, path[1:])(asked))

    def _length(self, most: int, problem: str) -> int:
        length = self.headers.get("Content-Length", "")
        is_number = length.isdecimal() and len(length) <= MOST_DIGITS
        if not is_number or int(length) > most:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, problem)
        return int(length)

    def _uploaded(self) -> tuple[str, Iterator[bytes]]:
        """The name and the content of a table; a connection that breaks off leaves nothing."""
        left = self._length(
            MOST_UPLOADED,
            f"the table has more than {MOST_UPLOADED >> 20} MB: put it into the studio's folder.",
        )
        self.close_connection = True  # what a refusal leaves unread is not a request

        def pieces(left: int) -> Iterator[bytes]:
            while left:
                piece = self.rfile.read(min(left, PIECE))
                if not piece:
                    raise ConnectionResetError
                left -= len(piece)
                yield piece

        return unquote(self.headers.get("X-Studio-Name", "")), pieces(left)

    def _body(self) -> dict[str, Any]:
        length = self._length(MOST_BYTES, "the request is too large.")
        try:
            asked = json.loads(self.rfile.read(length) or b"{}")
            # What can be read but not be written again is no JSON: Infinity, half a character.
            json.dumps(asked, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the request is not JSON.")
        return asked

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        headers = {**HEADERS, "Content-Type": f"{kind}; charset=utf-8"}
        headers["Content-Length"] = str(len(content))
        if policy := self._policy(kind):
            headers["Content-Security-Policy"] = policy
        if self.close_connection:
            headers["Connection"] = "close"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _policy(self, kind: str) -> str:
        """What the browser may do with an answer; the page of the studio brings its own policy."""
        if kind != HTML:
            return NOTHING_RUNS
        is_studio = urlsplit(self.path).path == "/"
        return "" if is_studio else IN_A_SANDBOX

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: what matters is on the page."""


def _address(target: str) -> tuple[str, dict[str, str]]:
    """The path that a request names, and what stands behind it."""
    address = urlsplit(target)
    words = {name: values[0] for name, values in parse_qs(address.query).items()}
    return unquote(address.path), words


def _run_in(path: str) -> tuple[str, str] | None:
    """The run and its file that a path names, if it is one of such."""
    parts = path.strip("/").split("/")
    return (parts[1], parts[2]) if len(parts) == 3 and parts[0] == "run" else None


def _json(value: Any) -> bytes:
    return json.dumps(finite(value), ensure_ascii=False).encode(errors="backslashreplace")


class Server(ThreadingHTTPServer):
    """A server for one studio; ``address`` opens its page.

    ``patience`` is how many seconds a connection may be silent.
    """

    daemon_threads = True

    def __init__(self, studio: Studio, port: int = 0, patience: float = SECONDS_OF_SILENCE) -> None:
        self.studio = studio
        self.token = secrets.token_urlsafe(24)
        self.patience = patience
        self._way_in: Path | None = None
        super().__init__((HOST, port), Handler)
        self.host = f"{HOST}:{self.server_address[1]}"
        self.address = f"http://{self.host}/?token={self.token}"

    def way_in(self) -> Path:
        """A file for the browser that leads to the page; it is gone once the page was opened.

        Everybody on this machine can read the words that a browser is started with, so these
        must not have the token. The file can be read by its owner alone.
        """
        path = self.studio.folder.project / f"open-{secrets.token_hex(8)}.html"
        with open(path, "x", encoding="utf-8", opener=partial(os.open, mode=0o600)) as file:
            file.write(way_in_page(self.address))
        self._way_in = path
        return path

    def opened(self) -> None:
        """Take the file away that led to the page."""
        if self._way_in is not None:
            self._way_in.unlink(missing_ok=True)

    def check(self, headers: Any, path: str, words: Mapping[str, str]) -> None:
        """Refuse a request that is not the page's own: to this host, with the token.

        Raises
        ------
        RefusedError
            It names another host, comes from another site, or lacks the token.
        """
        run = _run_in(path)
        # What the browser opens by an address that has a secret may be opened from anywhere.
        is_opened = headers.get("Sec-Fetch-Dest") == "document" and (path == "/" or run is not None)
        if headers.get("Host") != self.host:
            raise RefusedError(HTTPStatus.FORBIDDEN, "this host is not the studio's.")
        origin = f"http://{self.host}"
        site = headers.get("Sec-Fetch-Site", "none")
        is_own = site in ("same-origin", "none") or is_opened
        if headers.get("Origin", origin) != origin or not is_own:
            raise RefusedError(HTTPStatus.FORBIDDEN, "the studio answers its own page only.")
        if run is not None and "key" in words:
            secret = words["key"]
            expected = self.studio.runs.key(run[0])
        else:
            in_address = words.get("token", "") if path == "/" else ""
            secret = headers.get("X-Studio-Token", in_address)
            expected = self.token
        if not secrets.compare_digest(secret.encode(), expected.encode()):
            raise RefusedError(
                HTTPStatus.FORBIDDEN,
                "the token is missing or wrong: open the address that `lacunet studio` printed.",
            )

    def server_close(self) -> None:
        """End what runs, then the server."""
        self.studio.runs.cancel()
        self.opened()
        super().server_close()
