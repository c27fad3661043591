"""Who is let in, what is refused, and that nothing is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from serving import answer, exported, finish, keep, served, wait

import lacunet as lc
from lacunet.errors import LacunetError
from lacunet.studio.runs import AskedRun, BusyError, Runs
from lacunet.studio.server import MOST_BYTES, MOST_UPLOADED, Server
from lacunet.studio.sketch import sketch_of

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
        expected = lc.query(known, "B", {"A": "yes"}, interval=level or False)
        assert [row[0] for row in about["rows"]] == [*expected.states[0]]
        assert [row[1] for row in about["rows"]] == expected.tolist()
        ends = [row[2:] for row in about["rows"]]
        none = [[None, None]] * len(ends)
        assert ends == (none if expected.interval is None else expected.interval.tolist())
        assert (expected.interval is None) == (level == 0)
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


def test_the_page_gives_its_token_to_nobody(folder: Path) -> None:
    with served(folder) as server:
        status, text = answer(server, f"/?token={server.token}", token="")
        assert status == 403  # a header that is there counts
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
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
            server, data="rows.csv", graph="A -> B; A -> R[B]; R[A]", method="mgraph", prior="learn"
        )
        assert finish(server, "explain")["status"] == "done"
        _, text = answer(server, "/run/explain-1/output.txt")
        network = lc.read_network(folder / "lacunet-studio" / "runs" / "explain-1" / "network.json")
        rows = str(folder / "rows.csv")
        expected = lc.explain(network, rows, "mgraph", "learn", missingness="A -> R[B]; R[A]")
        assert text.strip() == str(expected)


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
    from lacunet.studio import server

    monkeypatch.setattr(server, "find_spec", lambda _: None)
    network = lc.Network.from_data({"A": ["0", "1", "1"], "B": ["1", "0", None]}, "A -> B")
    lc.learn(network, {"A": ["0", "1", "1"], "B": ["1", "0", None]}).write(folder / "learned.json")
    server._keep_graph("", 0.95, folder)
    assert (folder / "network.svg").exists()
    assert not (folder / "network.pdf").exists()
