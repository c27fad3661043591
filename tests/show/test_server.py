"""Who is let in, what is refused, and that nothing is lost."""

from __future__ import annotations

import json
import os
import socket
import stat
from http.client import HTTPConnection
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from serving import answer, exported, finish, keep, served, wait

import lacunet as lc
from lacunet.errors import LacunetError
from lacunet.show.studio.folder import OutsideError
from lacunet.show.studio.runs import AskedRun, BusyError, Runs
from lacunet.show.studio.server import MOST_BYTES, MOST_UPLOADED, Server
from lacunet.show.studio.sketch import sketch_of
from lacunet.text import finite

TABLES = "lacunet-studio/tables"
ROWS = "A,B\nno,yes\nyes,no\nyes,\n,yes\n" * 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "rows.csv").write_text(ROWS)
    (tmp_path / "secret.csv").write_text("A,B\nno,yes\n")
    (tmp_path / "inside" / "notes.txt").write_text("not a table")
    os.symlink(tmp_path / "secret.csv", tmp_path / "inside" / "link.csv")
    return tmp_path / "inside"


PATHS = ["/", "/state", "/job", "/export", "/run/1/page.html"]
POSTS = [
    "/project",
    "/reading",
    "/look",
    "/intervals",
    "/skips",
    "/graph",
    "/run",
    "/cancel",
    "/adopt",
    "/answers",
    "/upload",
    "/example",
    "/summary",
    "/compare",
    "/rename",
    "/delete",
]


@pytest.mark.parametrize("path", [*PATHS, *POSTS])
def test_nothing_is_answered_without_the_token(folder: Path, path: str) -> None:
    with served(folder) as server:
        for token in ("", "wrong"):
            status, found = answer(server, path, None if path in PATHS else {}, token=token)
            assert status == 403
            assert "token" in found["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
    ],
)
def test_another_origin_is_refused_even_with_the_token(
    folder: Path, headers: dict[str, str]
) -> None:
    with served(folder) as server:
        assert answer(server, "/state", headers=headers)[0] == 403
        assert answer(server, "/cancel", {}, headers=headers)[0] == 403
        own = {"Origin": f"http://127.0.0.1:{server.server_address[1]}"}
        assert answer(server, "/state", headers=own)[0] == 200


@pytest.mark.parametrize(
    "name", ["../secret.csv", "link.csv", "notes.txt", "inside/../../secret.csv", "", "nowhere.csv"]
)
def test_files_outside_of_the_folder_are_refused(folder: Path, name: str) -> None:
    with served(folder) as server:
        asked = {"project": {"data": name}}
        assert answer(server, "/look", asked)[0] == 400
        assert answer(server, "/intervals", {**asked, "column": "A", "bins": "4"})[0] == 400
        keep(server, data=name, graph="A -> B")
        _, state = answer(server, "/state")
        assert answer(server, "/run", {"kind": "learn", "version": state["version"]})[0] == 400
        assert answer(server, "/export")[0] == 400
        absolute = {"project": {"data": str(folder.parent / "secret.csv")}}
        assert answer(server, "/look", absolute)[0] == 400


def test_of_a_run_only_its_results_are_given(folder: Path) -> None:
    with served(folder) as server:
        keep(server, data="rows.csv", graph="A -> B", level=0.0, method="direct-mcar")
        assert finish(server)["status"] == "done"
        assert answer(server, "/run/1/learned.json")[0] == 200
        assert answer(server, "/run/1/network.svg")[1].startswith("<svg")
        path = folder / "lacunet-studio" / "runs" / "1"
        assert (path / "network.pdf").read_bytes().startswith(b"%PDF")
        methods = lc.read_result(path / "learned.json").methods_text()
        assert "Intervals" not in methods
        assert answer(server, "/run/1/methods.txt") == (200, methods + "\n")
        for file in ("run.json", "../project.json", "..%2F..%2Fproject.json", "x"):
            assert answer(server, f"/run/1/{file}")[0] in (400, 404)


@pytest.mark.parametrize("body", [b"[]", b"{", b"null", b"{}", b'{"project": 5, "version": 0}'])
def test_what_is_not_a_request_is_refused_in_words(folder: Path, body: bytes) -> None:
    with served(folder) as server:
        status, found = answer(server, "/project", data=body)
        assert status == 400
        assert found["error"]


def test_a_request_that_is_too_large_is_not_read(folder: Path) -> None:
    with served(folder) as server:
        headers = {"Content-Length": str(MOST_BYTES + 1)}
        assert answer(server, "/project", data=b"{}", headers=headers)[0] == 413


def test_the_second_of_two_tabs_is_told_to_reload(folder: Path) -> None:
    with served(folder) as server:
        first = {"project": {"data": "rows.csv"}, "version": 0}
        assert answer(server, "/project", first) == (200, {"version": 1})
        status, found = answer(server, "/project", {"project": {"graph": "A"}, "version": 0})
        assert status == 409
        assert "another tab" in found["error"]
        assert answer(server, "/state")[1]["project"]["data"] == "rows.csv"


def test_of_two_studios_in_one_folder_neither_undoes_what_the_other_kept(folder: Path) -> None:
    with served(folder) as first, served(folder) as second:
        _, opened = answer(second, "/state")
        keep(first, data="rows.csv", graph="A -> B")
        late = {"project": {**opened["project"], "seed": 7}, "version": opened["version"]}
        status, found = answer(second, "/project", late)
        assert (status, found["hint"]) == (409, "reload the page.")
        asked = {"kind": "learn", "version": opened["version"]}
        assert answer(second, "/run", asked)[0] == 409
        keep(second, seed=7)  # after a reload
        for server in (first, second):
            kept = answer(server, "/state")[1]["project"]
            assert (kept["data"], kept["graph"], kept["seed"]) == ("rows.csv", "A -> B", 7)
    assert json.loads((folder / "lacunet-studio" / "project.json").read_text())["seed"] == 7


def test_two_studios_do_not_share_the_number_of_a_run(folder: Path) -> None:
    with served(folder) as first, served(folder) as second:
        number = second.studio.runs.next_name("learn")
        keep(first, data="rows.csv", graph="A -> B")
        assert finish(first)["name"] == number == "1"
        with pytest.raises(BusyError, match="another studio"):
            second.studio.runs.start(number, AskedRun("learn"))
        assert finish(second, "explain")["name"] == "explain-1"  # takes no number of a result
        assert finish(second)["name"] == "2"
        runs = [run["name"] for run in answer(first, "/state")[1]["runs"]]
        assert [name for name in runs if name.isdecimal()] == ["2", "1"]


@pytest.mark.parametrize("level", [0.9, 0.0])
def test_a_question_is_answered_with_intervals(folder: Path, level: float) -> None:
    with served(folder) as server:
        keep(server, data="rows.csv", graph="A -> B", level=level, method="em")
        assert finish(server)["status"] == "done"
        asked = {"number": 1, "asked": "#A=yes"}
        status, found = answer(server, "/answers", asked)
        assert status == 200, found
        assert found["evidence"] == {"A": "yes"}
        assert found["level"] == level
        assert found["chance"] == ""  # of the rate matrix of EM
        methods = answer(server, "/run/1/methods.txt")[1]
        assert ("at the level of 90%" in methods) == (level > 0)
        keep(server, level=0.5)  # said later, and not of this run
        assert answer(server, "/answers", asked)[1] == found
        (about,) = found["answers"]
        assert about["name"] == "B"
        result = lc.read_result(server.studio.runs.file("1", "learned.json")) if level else None
        known = result or lc.read_network(server.studio.runs.file("1", "learned.json"))
        expected = known.query("B", {"A": "yes"}, level=level or 0.95)
        assert [row[0] for row in about["rows"]] == [*expected.states[0]]
        assert [row[1] for row in about["rows"]] == expected.probabilities.tolist()
        ends = [row[2:] for row in about["rows"]]
        none = [[None, None]] * len(ends)
        assert ends == (none if expected.level is None else expected.interval.tolist())
        assert (expected.level is None) == (level == 0)
        assert answer(server, "/answers", {"number": 1, "asked": ""})[1]["answers"] == []
        assert answer(server, "/answers", {"number": 1, "asked": "#A=maybe"})[0] == 400
        assert answer(server, "/answers", {"number": 2, "asked": "#A=yes"})[0] == 400


def test_a_studio_that_is_started_again_knows_everything(folder: Path) -> None:
    with served(folder) as server:
        keep(server, data="rows.csv", graph="A -> B; A -> R[B]", bins={"A": "3"}, seed=5)
        before = answer(server, "/state")[1]["project"]
        token = server.token
    with served(folder) as server:
        assert answer(server, "/state")[1]["project"] == before
        assert server.token != token


def test_the_tables_are_those_of_the_folder(folder: Path) -> None:
    with served(folder) as server:
        assert answer(server, "/state")[1]["files"] == ["link.csv", "rows.csv"]


def _started(server: Server) -> dict[str, Any]:
    """Start work that takes a while; what is told of it while it runs."""
    _, state = answer(server, "/state")
    assert answer(server, "/run", {"kind": "learn", "version": state["version"]})[0] == 200
    _, job = answer(server, "/job")
    assert isinstance(job, dict)
    return job


def test_a_run_that_is_cancelled_leaves_nothing(folder: Path) -> None:
    with served(folder) as server:
        keep(server, data="rows.csv", graph="A -> B", method="em")
        assert _started(server)["status"] == "running"
        _, state = answer(server, "/state")
        status, found = answer(server, "/run", {"kind": "learn", "version": state["version"]})
        assert (status, "running" in found["error"]) == (409, True)
        assert answer(server, "/graph", {"project": state["project"]})[0] == 200
        sleep(0.2)
        assert answer(server, "/cancel", {})[0] == 200
        _, job = answer(server, "/job")
        assert job["status"] == "cancelled"
        assert job["seconds"] >= 0.2
        assert answer(server, "/state")[1]["runs"] == []
        assert list((folder / "lacunet-studio" / "runs").iterdir()) == []


def test_a_run_that_fails_says_why_and_leaves_nothing(folder: Path) -> None:
    with served(folder) as server:
        keep(server, data="rows.csv", graph="A -> B; R[A]")
        job = finish(server)
        assert job["status"] == "failed"
        assert "{" not in job["message"]
        assert "'B'" in job["message"]  # has missing values and no mechanism
        assert answer(server, "/state")[1]["runs"] == []


def test_looking_tells_values_missing_ones_and_codes(folder: Path) -> None:
    (folder / "codes.csv").write_text(
        "Id,S,X,N\n"
        + "".join(
            f"p{k},{[1, 2, 7, 9][k % 4]},{k * 1.5},{'NA' if k % 2 else 'a'}\n" for k in range(80)
        )
    )
    with served(folder) as server:
        status, found = answer(server, "/look", {"project": {"data": "codes.csv"}})
        assert status == 200
        column = {own["name"]: own for own in found["columns"]}
        assert found["rows"] == 80
        assert {name: own["proposal"] for name, own in column.items()} == {
            "Id": "leave",
            "S": "states",
            "X": "bins",
            "N": "leave",
        }
        assert column["S"]["codes"] == ["7", "9"]
        assert (column["N"]["missing"], column["N"]["tokens"]) == (40, [["NA", 40]])
        _, rows = answer(server, "/look", {"project": {"data": "rows.csv"}})
        assert [own["missing"] for own in rows["columns"]] == [20, 20]  # empty cells
        (folder / "words.csv").write_text("E\n" + "a\nRefused\nb\nDon't know\n" * 20)
        _, words = answer(server, "/look", {"project": {"data": "words.csv"}})
        assert words["columns"][0]["codes"] == ["Don't know", "Refused"]
        said = {"data": "codes.csv", "missing": {"S": ["7", "9"]}}
        _, again = answer(server, "/look", {"project": said})
        assert next(own for own in again["columns"] if own["name"] == "S")["missing"] == 40
        _, cut = answer(server, "/intervals", {"project": said, "column": "X", "bins": "20,60"})
        assert cut["labels"] == ["[20,60]"]
        assert answer(server, "/intervals", {"project": said, "column": "X", "bins": "z"})[0] == 400


@pytest.mark.slow
def test_what_missing_values_depend_on_becomes_part_of_the_graph(folder: Path) -> None:
    rows = [
        f"{'no' if k % 2 else 'yes'},{'' if k % 2 and k % 3 else 'ab'[k % 5 == 0]}\n"
        for k in range(300)
    ]
    (folder / "depends.csv").write_text("A,B\n" + "".join(rows))
    with served(folder) as server:
        keep(server, data="depends.csv", graph="A -> B")
        assert finish(server, "diagnose")["status"] == "done"
        assert answer(server, "/run/diagnose-1/page.html")[0] == 200
        _, found = answer(server, "/adopt", {"name": "diagnose-1", "kind": "diagnose"})
        assert sketch_of(found["graph"]).edges_text == "A -> B"
        assert sketch_of(found["graph"]).mechanisms_text == "A -> R[B]"


def test_questions_that_were_not_asked_are_found_and_exported(folder: Path) -> None:
    rows = [f"{'yes' if k % 3 else 'no'},{'ab'[k % 2] if k % 3 else ''}\n" for k in range(150)]
    (folder / "skips.csv").write_text("Smoked,Now\n" + "".join(rows))
    with served(folder) as server:
        keep(server, data="skips.csv", graph="Smoked -> Now")
        project = answer(server, "/state")[1]["project"]
        _, found = answer(server, "/skips", {"project": project})
        (skip,) = found["skips"]
        assert (skip["variable"], skip["rule"], skip["rows"]) == ("Now", "Smoked=no", 50)
        keep(server, not_asked={"Now": skip["rule"]}, level=0.0, method="em")
        project = answer(server, "/state")[1]["project"]
        assert answer(server, "/skips", {"project": project})[1] == {"skips": []}
        assert "--not-asked 'Now: Smoked=no'" in exported(server)[0]["shell"]
        job = finish(server)
        assert job["status"] == "done", job["message"]
        learned = lc.read_network(server.studio.runs.file("1", "learned.json"))
        python = exported(server)[0]["python"].replace("skips.csv", f"{folder}/skips.csv")
        names: dict[str, Any] = {}
        exec(python.replace("lacunet-studio/", f"{folder}/lacunet-studio/"), names)
        again = names["result"].network
        assert again.states_of == learned.states_of
        assert len(again.states("Now")) == 3
        np.testing.assert_allclose(again.cpt("Now").table, learned.cpt("Now").table, atol=1e-12)


@pytest.mark.slow
def test_two_results_are_set_side_by_side(folder: Path) -> None:
    with served(folder) as server:
        for method in ("direct-mcar", "listwise"):
            keep(server, data="rows.csv", graph="A -> B", method=method, level=0.0)
            assert finish(server)["status"] == "done"
        job = finish(server, "beside", runs=[1, 2])
        assert job["status"] == "done", job["message"]
        page = answer(server, "/run/3/page.html")[1]
        assert '"other"' in page
        assert "<title>1/learned.json and 2/learned.json" in page


def keyed(server: Server, name: str, file: str) -> str:
    """The address of a file of a run, as the page has it."""
    runs = {run["name"]: run for run in answer(server, "/state")[1]["runs"]}
    return f"/run/{name}/{file}?key={runs[name]['key']}"


def a_run(folder: Path, name: str, page: str = "<script>fetch('/state')</script>") -> Path:
    """A run as it may come with a folder from elsewhere."""
    path = folder / "lacunet-studio" / "runs" / name
    path.mkdir(parents=True)
    (path / "page.html").write_text(page)
    (path / "output.txt").write_text("printed")
    about = {"name": name, "files": ["page.html", "output.txt", "learned.json"]}
    (path / "run.json").write_text(json.dumps(about))
    return path


def headers_of(server: Server, path: str, **sent: str) -> tuple[int, dict[str, str]]:
    """The status and the headers of what the browser opens, without the token."""
    connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    try:
        connection.request("GET", path, headers={k.replace("_", "-"): v for k, v in sent.items()})
        response = connection.getresponse()
        response.read()
        return response.status, dict(response.getheaders())
    finally:
        connection.close()


def test_a_page_of_a_run_is_opened_in_a_sandbox_by_a_key_of_its_own(folder: Path) -> None:
    a_run(folder, "1")
    a_run(folder, "2")
    with served(folder) as server:
        first = keyed(server, "1", "page.html")
        assert server.token not in first
        status, headers = headers_of(server, first)
        assert status == 200
        policy = headers["Content-Security-Policy"].split("; ")
        sandbox = next(part.split() for part in policy if part.startswith("sandbox"))
        assert "allow-same-origin" not in sandbox
        assert "default-src 'none'" in policy
        assert not any(part.startswith("connect-src") for part in policy)
        printed = headers_of(server, keyed(server, "1", "output.txt"))[1]
        assert printed["Content-Security-Policy"].startswith("sandbox;")
        # The key opens this run alone, and the token nothing but the page of the studio.
        key = first.partition("?")[2]
        assert headers_of(server, f"/run/2/page.html?{key}")[0] == 403
        assert headers_of(server, f"/state?{key}")[0] == 403
        assert headers_of(server, f"/?{key}")[0] == 403
        assert headers_of(server, f"/run/1/page.html?token={server.token}")[0] == 403
        assert headers_of(server, f"/state?token={server.token}")[0] == 403
        assert headers_of(server, f"/?token={server.token}")[0] == 200
        # A page in the sandbox has no origin, and asks for nothing even if it knew the token.
        own = {"X_Studio_Token": server.token, "Origin": "null", "Sec_Fetch_Site": "cross-site"}
        assert headers_of(server, "/state", **own)[0] == 403


def test_a_link_in_the_folder_of_a_run_leads_nowhere(folder: Path) -> None:
    secret = folder.parent / "secret.csv"
    for file in ("output.txt", "page.html"):
        path = a_run(folder, {"output.txt": "1", "page.html": "2"}[file])
        (path / file).unlink()
        (path / file).symlink_to(secret)
    elsewhere = a_run(folder.parent, "3")
    (folder / "lacunet-studio" / "runs" / "3").symlink_to(elsewhere)
    path = a_run(folder, "4")
    (path / "run.json").write_text(json.dumps({"name": "../../../4", "files": ["output.txt"]}))
    with served(folder) as server:
        runs = [run["name"] for run in answer(server, "/state")[1]["runs"]]
        assert runs == ["4", "2", "1"]
        for own in ("1/output.txt", "2/page.html", "3/output.txt", "..%2F..%2F..%2F4/output.txt"):
            status, found = answer(server, f"/run/{own}")
            assert (status in (400, 404), "no,yes" in str(found)) == (True, False)
        assert answer(server, "/run/1/page.html")[0] == 200


def test_nothing_is_kept_where_a_link_leads(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    project = folder / "lacunet-studio"
    project.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutsideError, match="link"), served(folder):
        pass
    project.unlink()
    project.mkdir()
    for name in ("runs", "tables"):
        (project / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutsideError, match="link"), served(folder):
        pass
    (project / "runs").unlink()
    with served(folder) as server:
        headers = {"X-Studio-Name": "new.csv"}
        assert answer(server, "/upload", data=b"A\n1\n", headers=headers)[0] == 400
        (tmp_path / "elsewhere" / "kept").write_text("{}")
        (project / "project.json").symlink_to(tmp_path / "elsewhere" / "kept")
        assert answer(server, "/state")[0] == 400
    assert os.listdir(tmp_path / "elsewhere") == ["kept"]
    assert (tmp_path / "elsewhere" / "kept").read_text() == "{}"


def test_the_browser_is_given_a_file_that_its_owner_alone_can_read_once(folder: Path) -> None:
    with served(folder) as server:
        path = server.way_in()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert server.token not in path.as_uri()
        assert server.address in path.read_text()
        # The browser comes from a file, which is another site.
        opening = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Dest": "document"}
        assert headers_of(server, "/?token=wrong", **opening)[0] == 403
        assert path.exists()
        assert headers_of(server, f"/?token={server.token}", **opening)[0] == 200
        assert not path.exists()
        framed = {**opening, "Sec_Fetch_Dest": "iframe"}
        assert headers_of(server, f"/?token={server.token}", **framed)[0] == 403
        unused = server.way_in()
    assert not unused.exists()


def test_a_connection_that_is_silent_is_closed(folder: Path) -> None:
    with served(folder, patience=0.2) as server:
        for sent in (b"", b"GET / HTTP/1.1\r\nHost: x", _announced(server, 10)):
            with socket.create_connection(("127.0.0.1", server.server_address[1]), 10) as silent:
                silent.sendall(sent)
                assert silent.recv(100) == b""
        assert answer(server, "/state")[0] == 200


def _announced(server: Server, length: int) -> bytes:
    """The head of a request whose body does not come."""
    lines = ["POST /project HTTP/1.1", f"Host: {server.host}", f"X-Studio-Token: {server.token}"]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


ODD_BODIES = [
    b"[" * 100_000,
    b'{"project": ' * 20_000 + b"{}" + b"}" * 20_000,
    b'{"number": Infinity, "asked": ""}',
    b'{"number": 1e999, "asked": ""}',
    b'{"number": NaN, "asked": "", "project": {"level": NaN}, "version": 0}',
    b'{"project": {"level": 1e300}, "version": 0, "number": 1e300, "asked": ""}',
    b'{"project": {"seed": %s}, "version": 0}' % (b"9" * 400),
    b'{"project": {"seed": %s}, "version": 0}' % (b"9" * 5000),
    b'{"project": {"graph": "\\ud800"}, "version": 0, "name": "\\ud800", "kind": "\\ud800"}',
    b'{"project": {"states": 5, "bins": {"A": 5}}, "version": 0}',
    b'{"project": {"data": "rows.csv"}, "column": "A", "bins": "%s"}' % (b"9" * 5000),
    b'{"project": {"data": "rows.csv"}, "column": ["A"], "bins": {}, "kind": {}, "data": {}}',
    b'{"runs": [1, 2, 3], "kind": "beside", "version": 0}',
    b"\xff\xfe",
]


@pytest.mark.parametrize("body", ODD_BODIES)
def test_odd_bodies_are_answered(
    folder: Path, body: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(folder) as server:
        for path in ("/project", "/look", "/intervals", "/skips", "/graph", "/run", "/adopt"):
            assert answer(server, path, data=body)[0] in (200, 400, 409), path
        assert answer(server, "/answers", data=body)[0] == 400
        assert answer(server, "/state")[1]["version"] == 0
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "length", ["9" * 5000, "-1", "1e3", "", "\u0661".encode().decode("latin-1")]
)
def test_odd_lengths_are_answered(
    folder: Path, length: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(folder) as server:
        for path in ("/project", "/upload"):
            headers = {"Content-Length": length, "X-Studio-Name": "rows.csv"}
            assert answer(server, path, data=b"{}", headers=headers)[0] == 413
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("path", ["//[x", "/run/%00/page.html", "/run/1/%FF"])
def test_odd_addresses_are_answered(
    folder: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(folder) as server:
        assert answer(server, path)[0] in (400, 404)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "about", ["[]", "5", "[" * 50_000, '{"name": 5}', '{"name": "1", "files": 5, "project": 5}']
)
def test_odd_files_of_a_project_are_answered(
    folder: Path, about: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = a_run(folder, "1")
    (path / "run.json").write_text(about)
    with served(folder) as server:
        keep(server, data="rows.csv", graph="A -> B", run=1)
        for own in ("/state", "/export", "/run/1/page.html"):
            assert answer(server, own)[0] in (200, 400), own
        assert answer(server, "/answers", {"number": 1, "asked": ""})[0] == 400
    assert "Traceback" not in capsys.readouterr().err


def test_the_page_gives_its_token_to_nobody(folder: Path) -> None:
    with served(folder) as server:
        status, text = answer(server, f"/?token={server.token}", token="")
        assert status == 403  # a header that is there counts
        connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
        connection.request("GET", f"/?token={server.token}")
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        assert response.status == 200
        assert response.getheader("Referrer-Policy") == "no-referrer"
        assert response.getheader("Access-Control-Allow-Origin") is None
        assert "default-src 'none'" in text
        assert json.dumps(server.token) in text


@pytest.mark.slow
def test_arrows_are_proposed_from_the_data_and_mechanisms_stay(folder: Path) -> None:
    rows = [f"{'no' if k % 2 else 'yes'},{'ab'[(k + (k % 7 == 0)) % 2]},z\n" for k in range(300)]
    (folder / "related.csv").write_text("A,B; x,C\n" + "".join(rows))
    with served(folder) as server:
        keep(server, data="related.csv", graph='A; "B; x"; R[A]')
        job = finish(server, "structure")
        assert job["status"] == "done", job["message"]
        _, found = answer(server, "/adopt", {"name": "structure-1", "kind": "structure"})
        sketch = sketch_of(found["graph"])
        assert {frozenset(edge) for edge in sketch.edges} == {frozenset(("A", "B; x"))}
        assert sketch.mechanisms_text == "R[A]"


def test_a_table_that_the_browser_brings_is_kept_below_the_folder(folder: Path) -> None:
    def brought(name: str, content: str) -> tuple[int, Any]:
        return answer(server, "/upload", data=content.encode(), headers={"X-Studio-Name": name})

    with served(folder) as server:
        for _ in range(2):  # the same table again is the same
            assert brought("my%20rows.csv", ROWS) == (200, {"data": f"{TABLES}/my rows.csv"})
        assert brought("my%20rows.csv", "A\nno\n") == (200, {"data": f"{TABLES}/my rows-2.csv"})
        assert (folder / TABLES / "my rows.csv").read_text() == ROWS
        listed = {f"{TABLES}/my rows.csv", f"{TABLES}/my rows-2.csv", "rows.csv"}
        assert listed <= set(answer(server, "/state")[1]["files"])
        assert answer(server, "/look", {"project": {"data": f"{TABLES}/my rows.csv"}})[0] == 200
        for name in ("../rows.csv", "..%2Frows.csv", "%2Ftmp%2Frows.csv", "..%5Crows.csv", ".csv"):
            assert brought(name, ROWS)[0] == 400
        for name in ("", "rows.exe", "project.json", "a%00.csv"):
            assert brought(name, ROWS)[0] == 400
        assert len([*(folder / TABLES).iterdir()]) == 2
        assert answer(server, "/upload", data=b"A\n", token="")[0] == 403


def test_a_table_that_is_too_large_is_not_read(folder: Path) -> None:
    with served(folder) as server:
        headers = {"X-Studio-Name": "rows.csv", "Content-Length": str(MOST_UPLOADED + 1)}
        assert answer(server, "/upload", data=b"A\n", headers=headers)[0] == 413
        assert not (folder / TABLES).exists()


def test_the_plan_is_that_of_explain(folder: Path) -> None:
    with served(folder) as server:
        keep(
            server,
            data="rows.csv",
            graph="A -> B; A -> R[B]; R[A]",
            method="mgraph",
            pseudo_counts="learn",
        )
        assert finish(server, "explain")["status"] == "done"
        _, text = answer(server, "/run/explain-1/output.txt")  # JSON
        network = lc.read_network(folder / "lacunet-studio" / "runs" / "explain-1" / "network.json")
        rows = str(folder / "rows.csv")
        expected = lc.explain(
            network, rows, "mgraph", pseudo_counts="learn", missingness="A -> R[B]; R[A]"
        )
        assert json.loads(text) == finite(expected.as_data())


def test_a_run_is_named_and_deleted_and_leaves_the_others(folder: Path) -> None:
    with served(folder) as server:
        for method in ("direct-mcar", "listwise"):
            keep(server, data="rows.csv", graph="A -> B", method=method, level=0.0)
            assert finish(server)["status"] == "done"
        assert finish(server, "beside", runs=[1, 2])["status"] == "done"
        assert answer(server, "/rename", {"name": "1", "label": " complete\nrows "})[0] == 200
        keep(server, run=3)
        assert "mkdir" in exported(server)[0]["shell"]
        assert answer(server, "/summary", {"name": "2"})[0] == 200
        assert answer(server, "/delete", {"name": "2"})[0] == 200
        runs = answer(server, "/state")[1]["runs"]
        assert [(run["name"], run.get("label")) for run in runs] == [
            ("3", None),
            ("1", "complete rows"),
        ]
        assert not (folder / "lacunet-studio" / "runs" / "2").exists()
        assert exported(server)[0]["title"] == "the settings as they stand"
        assert answer(server, "/summary", {"name": "2"})[0] == 400
        for name in ("2", "..", "project.json"):
            assert answer(server, "/delete", {"name": name})[0] == 400
            assert answer(server, "/rename", {"name": name, "label": "x"})[0] == 400


def test_the_summary_has_each_cpt_with_its_intervals_ties_and_shapes(folder: Path) -> None:
    rng = np.random.default_rng(3)
    flu, cold = rng.random((2, 400)) < 0.4
    fever = rng.random(400) < 1 - 0.9 * 0.3**flu * 0.6**cold
    words = np.array(["no", "yes"])
    rows = {
        name: words[column.astype(int)].tolist()
        for name, column in (("Flu", flu), ("Cold", cold), ("Fever", fever))
    }
    edges = "Flu, Cold -> Fever"
    learned = lc.learn(
        edges,
        rows,
        method="em",
        intervals=True,
        shapes={"Fever": "noisy-or"},
        tied=[["Flu", "Cold"]],
    )
    run = a_run(folder, "1")
    learned.write(run / "learned.json")
    about = json.loads((run / "run.json").read_text()) | {"project": {"level": 0.9}}
    (run / "run.json").write_text(json.dumps(about))
    with served(folder) as server:
        status, found = answer(server, "/summary", {"name": "1"})
        assert status == 200, found
        head, fever_cpt = found["cpts"]
        assert (head["title"], head["tied"], head["shape"]) == ("P(Flu)", ["Cold"], "")
        assert (fever_cpt["tied"], fever_cpt["shape"]) == ([], "noisy-or")
        told = learned.parameters("Fever", 0.9)
        names = [name for name, _ in fever_cpt["parameters"]["parameters"]]
        assert names == [parameter.name for parameter in told.parameters]
        assert fever_cpt["parameters"]["beside"] == told.beside_table
        assert head["parameters"] is None
        expected = learned.interval("Fever", 0.9)
        given, row, ends = fever_cpt["rows"][1]
        assert given == [learned.network.states("Flu")[0], learned.network.states("Cold")[1]]
        assert row == learned.network.cpt("Fever").table[0, 1].tolist()
        assert ends == expected[0, 1].tolist()


def test_where_two_results_differ_most_is_the_entry_most_apart(folder: Path) -> None:
    states = {"A": ["no", "yes"], "B": ["x", "y"], "C": ["x", "y"]}
    tables = {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]], "C": [0.5, 0.5]}
    first = lc.Network(states, {"B": ["A"]}, tables)
    other = {"A": [0.4, 0.6], "B": [[0.9, 0.1], [0.6, 0.4]], "C": [[0.5, 0.5], [0.5, 0.5]]}
    second = lc.Network(states, {"B": ["A"], "C": ["A"]}, other)
    for name, network in (("1", first), ("2", second)):
        run = a_run(folder, name)
        network.write(run / "learned.json")
        about = json.loads((run / "run.json").read_text()) | {"project": {}}
        (run / "run.json").write_text(json.dumps(about))
    with served(folder) as server:
        status, found = answer(server, "/compare", {"runs": ["1", "2"]})
        assert status == 200, found
        assert [row["entry"] for row in found["rows"]] == ["P(B=x | A=yes)", "P(A=no)"]
        assert [value for value, _ in found["rows"][0]["both"]] == [0.2, 0.6]
        assert found["compared"] == 2
        assert found["others"] == ["arrows only in the second: A → C"]


def test_a_bundled_table_is_brought_into_the_folder_with_its_graph(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        assert {"screening", "nhanes"} <= set(answer(server, "/state")[1]["examples"])
        status, found = answer(server, "/example", {"name": "screening"})
        assert (status, found["data"]) == (200, f"{TABLES}/screening.csv")
        keep(server, data=found["data"], graph=found["graph"])
        project = answer(server, "/state")[1]["project"]
        assert answer(server, "/look", {"project": project})[1]["rows"] == 50_000
        assert answer(server, "/graph", {"project": project})[1]["category"] == "MAR"
        assert answer(server, "/example", {"name": "../secret"})[0] == 400


def test_what_a_rule_looks_at_is_part_of_the_verdicts_as_in_the_plan(folder: Path) -> None:
    rows = [
        f"{'' if not k % 7 else 'yes' if k % 3 else 'no'},{'ab'[k % 2] if k % 3 else ''}\n"
        for k in range(300)
    ]
    (folder / "skips.csv").write_text("Smoked,Now\n" + "".join(rows))
    with served(folder) as server:
        graph = "Smoked -> Now; R[Smoked]; R[Now]"
        keep(server, data="skips.csv", graph=graph)
        project = answer(server, "/state")[1]["project"]
        assert answer(server, "/graph", {"project": project})[1]["category"] == "MCAR"
        keep(server, not_asked={"Now": "Smoked=no"})
        project = answer(server, "/state")[1]["project"]
        _, found = answer(server, "/graph", {"project": project})
        assert finish(server, "explain")["status"] == "done"
        _, plan = answer(server, "/run/explain-1/output.txt")
        assert json.loads(plan)["category"].startswith(found["category"])
        assert (found["category"], found["lacking"]) == ("MNAR", [])
        _, without = answer(
            server, "/graph", {"project": project | {"graph": "Smoked; Now; R[Now]"}}
        )
        assert without["lacking"] == [["Smoked", "->", "Now"]]
        known = answer(server, "/look", {"project": project})[1]["skipped"]
        assert known == {"Now": sum(row == "no,\n" for row in rows)}


@pytest.mark.parametrize(
    ("name", "text", "encoding", "expected"),
    [
        ("a.csv", "A,B\n1,2\n", "utf-8", ("", "utf-8", ".")),
        ("a.csv", "A;Größe\n1;2,5\n0;3,25\n", "cp1252", (";", "cp1252", ",")),
        ("a.csv", "A\tB\n1\tx, y\n", "utf-16", ("\\t", "utf-16", ".")),
        ("a.tsv", "A|B\n1.5|2\n", "utf-8", ("|", "utf-8", ".")),
        ("a.csv", 'A,B\n"x;y",2\n"z;w",3\n', "utf-8", ("", "utf-8", ".")),
        ("a.csv", "A\nyes\nno\n", "utf-8", ("", "utf-8", ".")),
    ],
)
def test_how_a_text_file_is_written_is_proposed(
    tmp_path: Path, name: str, text: str, encoding: str, expected: tuple[str, ...]
) -> None:
    (tmp_path / name).write_bytes(text.encode(encoding))
    with served(tmp_path) as server:
        status, found = answer(server, "/reading", {"data": name})
        assert (status, tuple(found.values())) == (200, expected)
        status, found = answer(server, "/look", {"project": {"data": name, **found}})
        assert (status, found["rows"]) == (200, text.count("\n") - 1)
        assert len(found["first"][0]) == len(found["columns"]) > 0


def test_numbers_are_cut_and_codes_far_from_them_offered(tmp_path: Path) -> None:
    ages = [*range(18, 60), 99, 999]
    rows = [f"{age};{age % 20};{age % 5};{-9 if age == 20 else age * 100};2,{age}" for age in ages]
    (tmp_path / "rows.csv").write_text("\n".join(["Age;Cigs;Score;Income;Height", *rows * 3]))
    with served(tmp_path) as server:
        reading = {"data": "rows.csv", "delimiter": ";", "decimal": ","}
        _, found = answer(server, "/look", {"project": reading})
    told = {column["name"]: (column["proposal"], column["codes"]) for column in found["columns"]}
    assert told["Age"] == ("bins", ["999"])
    assert told["Cigs"] == ("bins", [])
    assert told["Score"] == ("states", [])
    assert told["Income"] == ("bins", ["-9"])
    assert told["Height"] == ("bins", [])


def test_codes_are_offered_beside_numbers_with_a_decimal_comma(tmp_path: Path) -> None:
    rows = [f"{size},{size % 10};{size % 3},5" for size in range(30, 60)]
    (tmp_path / "rows.csv").write_text("\n".join(["Size;Step", *rows, "-9;-9"]))
    with served(tmp_path) as server:
        reading = {"data": "rows.csv", "delimiter": ";", "decimal": ","}
        _, found = answer(server, "/look", {"project": reading})
    assert [column["codes"] for column in found["columns"]] == [["-9"], ["-9"]]


def test_a_number_among_many_words_is_offered_as_a_code(tmp_path: Path) -> None:
    towns = [f"{first}{second}" for first in "abcd" for second in "wxyz"]
    (tmp_path / "rows.csv").write_text("\n".join(["Town", *towns * 3, "999"]))
    with served(tmp_path) as server:
        status, found = answer(server, "/look", {"project": {"data": "rows.csv"}})
    assert status == 200
    assert found["columns"][0]["codes"] == ["999"]


def test_a_graph_is_drawn_although_its_table_is_gone(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        project = {"data": "gone.csv", "graph": "X -> Y; X -> R[Y]"}
        status, found = answer(server, "/graph", {"project": project})
    assert status == 200
    assert [own["status"] for own in found["verdicts"]] == ["recoverable"] * 2


def test_rows_that_stand_for_many_count_where_numbers_are_cut(tmp_path: Path) -> None:
    rows = [f"{age},{50 if age == 1 else 1}" for age in range(1, 9)]
    (tmp_path / "rows.csv").write_text("\n".join(["Age,Number", *rows]))
    with served(tmp_path) as server:
        project = {"data": "rows.csv", "counts": "Number"}
        asked = {"project": project, "column": "Age", "bins": "2"}
        status, found = answer(server, "/intervals", asked)
    assert (status, found) == (200, {"labels": ["<2", ">=2"]})


def test_a_run_whose_files_cannot_be_made_ends_and_says_why(tmp_path: Path) -> None:
    def refuse(folder: Path) -> None:
        raise LacunetError("there is no room.")

    runs = Runs(tmp_path, tmp_path / "runs")
    runs.start("1", AskedRun("learn", [], after=refuse))
    wait(runs, 10)
    assert runs.job is not None
    assert runs.job.status == "failed"
    assert runs.job.lines == ["there is no room."]


def test_a_result_without_matplotlib_has_no_pdf(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lacunet.show.studio import server

    monkeypatch.setattr(server, "find_spec", lambda _: None)
    network = lc.Network.from_data({"A": ["0", "1", "1"], "B": ["1", "0", None]}, "A -> B")
    lc.learn(network, {"A": ["0", "1", "1"], "B": ["1", "0", None]}).write(folder / "learned.json")
    server._keep_graph("", 0.95, folder)
    assert (folder / "network.svg").exists()
    assert not (folder / "network.pdf").exists()
