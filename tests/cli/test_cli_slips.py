"""What the command line answers to slips: each names the way out, and the way out works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lacunet as lc
from lacunet.cli import main
from lacunet.cli.parsing import parse_command_line

Captured = pytest.CaptureFixture[str]
SURVEY = "Smoker,bmi,xray\n" + "yes,31.5,pos\nno,22,neg\nyes,19,\nno,25,pos\n" * 5


def run(*words: str) -> int:
    return main(list(words))


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.csv").write_text(SURVEY)
    edges = "Smoker -> xray; bmi -> xray"
    assert run("convert", edges, "survey.csv", "--bins", "bmi=2", "-o", "s.json") == 0
    return tmp_path


def refused(capsys: Captured, *words: str) -> str:
    capsys.readouterr()
    assert run(*words) == 1
    return capsys.readouterr().err


def test_cut_points_that_leave_numbers_out_are_shown_wider(survey: Path, capsys: Captured) -> None:
    narrow = ("-o", "narrow.json")
    run("convert", "Smoker -> bmi", "survey.csv", *narrow, "--bins", "bmi=20,25,30")
    wider = refused(capsys, "learn", "narrow.json", "survey.csv")
    assert "--bins bmi=-inf,20,25,30,inf)" in wider
    run("convert", "Smoker -> bmi", "survey.csv", *narrow, "--bins", "bmi=-inf,20,25,30,inf")
    assert run("learn", "narrow.json", "survey.csv") == 0


def test_cut_points_are_shown_wider_for_decimal_commas_too(survey: Path, capsys: Captured) -> None:
    (survey / "commas.csv").write_text(SURVEY.replace(",", ";").replace(".", ","))
    reading = ("--delimiter", ";", "--decimal", ",")
    bins = ("--bins", "bmi=0,20,30", "-o", "narrow.json")
    run("convert", "Smoker -> bmi", "commas.csv", *reading, *bins)
    told = refused(capsys, "learn", "narrow.json", "commas.csv", *reading)
    assert "--bins bmi=-inf,0,20,30,inf)" in told


def test_a_value_that_no_wider_cut_holds_is_not_answered_with_cuts(
    survey: Path, capsys: Captured
) -> None:
    (survey / "odd.csv").write_text("Smoker,bmi,xray\nyes,heavy,pos\n")
    assert "--bins" not in refused(capsys, "learn", "s.json", "odd.csv")


def test_a_file_without_cut_points_is_answered_with_one_that_keeps_them(
    survey: Path, capsys: Captured
) -> None:
    run("learn", "s.json", "survey.csv", "-o", "learned.bif")
    assert "as .json" in refused(
        capsys, "predict", "learned.bif", "survey.csv", "--targets", "xray"
    )


def test_an_open_interval_is_written_and_read_without_a_second_sign(
    survey: Path, capsys: Captured
) -> None:
    assert run("learn", "s.json", "survey.csv", "-o", "r.json") == 0
    for typed in ("bmi>=25", "bmi=>=25", "bmi >= 25"):
        capsys.readouterr()
        assert run("query", "r.json", f"xray | Smoker=yes, {typed}") == 0
        assert "P(xray | Smoker=yes, bmi>=25)" in capsys.readouterr().out
    assert "'bm'" in refused(capsys, "query", "r.json", "xray | bm>=25")
    assert run("learn", "s.json", "survey.csv", "--intervals") == 0
    told = capsys.readouterr().out
    assert re.search(r"P\(bmi(<|>=)", told)
    assert "bmi=>" not in told
    assert "bmi=<" not in told


@pytest.mark.parametrize(
    "command", [("query", "r.json"), ("recover", "s.json", "R[xray]", "--query")]
)
def test_the_word_given_in_a_query_is_answered_with_a_bar(
    command: tuple[str, ...], survey: Path, capsys: Captured
) -> None:
    assert run("learn", "s.json", "survey.csv", "-o", "r.json") == 0
    assert "'xray | Smoker=yes'" in refused(capsys, *command, "xray given Smoker=yes")


def test_a_network_without_cpts_is_answered_with_how_to_learn_them(
    survey: Path, capsys: Captured
) -> None:
    for command in (("query", "s.json", "xray"), ("effect", "s.json", "xray", "--do", "bmi")):
        assert "lacunet learn s.json DATA -o result.json" in refused(capsys, *command)


@pytest.mark.parametrize("command", [("query",), ("effect", "--do", "bmi")])
def test_data_in_place_of_a_result_are_answered_with_how_to_learn_from_them(
    command: tuple[str, ...], survey: Path, capsys: Captured
) -> None:
    for words in (("s.json", "survey.csv"), ("survey.csv", "xray")):
        with pytest.raises(SystemExit, match="2"):
            run(command[0], *words, *command[1:])
        told = capsys.readouterr().err
        assert "'survey.csv'" in told
        assert "lacunet learn" in told


def test_a_file_that_is_not_there_is_answered_with_one_of_its_folder(
    survey: Path, capsys: Captured
) -> None:
    assert "'survey.csv'" in refused(capsys, "learn", "s.json", "survy.csv")
    Path("tr.csv").touch()
    assert "did you mean" not in refused(capsys, "learn", "s.json", "nothere.csv")
    run("convert", "s.json", "-o", "survey.bif")
    told = refused(capsys, "learn", "survay.bif", "survey.csv")
    assert "'survey.bif'" in told
    assert "'./s.json'" in refused(capsys, "show", "./s.jsn.json")


def test_a_network_is_not_written_as_data(survey: Path, capsys: Captured) -> None:
    told = refused(capsys, "structure", "survey.csv", "--bins", "bmi=2", "-o", "found.csv")
    assert "found.csv" in told
    assert ".bif" in told
    refused(capsys, "convert", "s.json", "-o", "found")


def test_a_file_of_edges_may_stand_in_place_of_a_network(survey: Path, capsys: Captured) -> None:
    method = ("--method", "direct-mcar")
    assert run("learn", "Smoker -> xray", "survey.csv", *method) == 0
    learned = capsys.readouterr().out
    for name, text in (
        ("edges.csv", "parent,child\nSmoker,xray\n"),
        ("edges.txt", "Smoker xray\n"),
        ("arrows.txt", "Smoker -> xray\n"),
    ):
        Path(name).write_text(text)
        assert run("learn", name, "survey.csv", *method) == 0
        assert capsys.readouterr().out == learned
    assert run("diagnose", "edges.txt", "survey.csv") == 0
    assert run("convert", "edges.csv", "survey.csv", "-o", "made.json") == 0
    with pytest.raises(SystemExit):  # it may be data; there are no others
        run("learn", "edges.csv")


@pytest.mark.parametrize("edges", ["Smoker -> xray", "[Smoker][xray|Smoker]"])
def test_edges_may_stand_in_place_of_a_network(edges: str, survey: Path, capsys: Captured) -> None:
    method = ("--method", "direct-mcar")
    assert run("learn", edges, "survey.csv", *method, "--report", "page.html") == 0
    assert "<h1><bdi>survey.csv: </bdi><bdi>2 CPTs" in Path("page.html").read_text()
    assert run("explain", edges, "survey.csv") == 0
    assert run("diagnose", edges, "survey.csv") == 0
    assert run("learn", edges, "--sql", "from 'survey.csv'", *method) == 0
    graph = ("--missingness", "R[xray]")
    assert run("effect", edges, "survey.csv", "xray", "--do", "Smoker", *graph) == 0
    assert run("recover", edges, "R[xray]") == 0


def test_edges_without_data_or_states_are_answered_with_both(
    survey: Path, capsys: Captured
) -> None:
    assert "--states" in refused(capsys, "explain", "Smoker -> xray")


def test_data_of_two_columns_are_not_taken_for_edges(survey: Path, capsys: Captured) -> None:
    for name in ("one.csv", "two.csv"):
        Path(name).write_text("Smoker,xray\nno,no\nyes,yes\n")
    assert run("diagnose", "two.csv") == 0
    assert run("diagnose", "one.csv", "two.csv") == 0
    with pytest.raises(SystemExit):
        run("learn", "two.csv")
    capsys.readouterr()


def test_a_file_of_edges_that_is_not_there_is_named(survey: Path, capsys: Captured) -> None:
    assert "nofile.txt" in refused(capsys, "learn", "nofile.txt", "survey.csv")


@pytest.mark.parametrize(
    "words",
    [
        ("query", "r.json", "--json", "xray | Smoker=no", "xray"),
        ("query", "r.json", "xray", "--json", "xray | Smoker=no"),
        ("effect", "r.json", "--do", "Smoker", "xray"),
        ("learn", "Smoker -> xray", "--json", "survey.csv"),
        ("structure", "survey.csv", "--bins", "bmi=2", "--strengths"),
    ],
)
def test_files_and_queries_may_follow_options(
    survey: Path, capsys: Captured, words: tuple[str, ...]
) -> None:
    assert run("learn", "s.json", "survey.csv", "-o", "r.json") == 0
    assert run(*words) == 0


def test_what_is_neither_a_file_nor_edges_is_no_missingness_graph(
    survey: Path, capsys: Captured
) -> None:
    told = refused(capsys, "recover", "s.json", "Rxray")
    assert "'Rxray'" in told
    assert "'A -> R[B]'" in told


def test_a_cpt_that_the_graph_does_not_give_names_options_that_exist(
    survey: Path, capsys: Captured
) -> None:
    graph = ("--missingness", "xray -> R[xray]")
    told = refused(capsys, "learn", "s.json", "survey.csv", *graph)
    assert "--otherwise prior" in told
    assert "--method em" in told  # the numbers of states identify it
    assert run("learn", "s.json", "survey.csv", *graph, "--otherwise", "prior") == 0
    assert run("learn", "s.json", "survey.csv", *graph, "--method", "em") == 0


def test_draws_from_a_network_name_the_file_that_gives_them(survey: Path, capsys: Captured) -> None:
    draw = ("survey.csv", "--draws", "2", "-o", "filled.csv")
    told = refused(capsys, "impute", "s.json", *draw)
    assert "--intervals -o result.json" in told
    assert run("learn", "s.json", "survey.csv", "--intervals", "-o", "result.json") == 0
    assert run("impute", "result.json", *draw) == 0


def test_a_code_that_no_row_has_is_noted(survey: Path, capsys: Captured) -> None:
    capsys.readouterr()
    codes = '{"Smoker": {"8": "x", "9": "yes"}}'
    run("convert", "Smoker -> xray", "survey.csv", "--codes", codes, "-o", "coded.json")
    told = capsys.readouterr().err
    assert "'8'" in told
    assert "'9'" not in told  # its state occurs


def test_an_unknown_column_of_an_option_is_said_with_the_option(
    survey: Path, capsys: Captured
) -> None:
    for network in ("s.json", "Smoker -> xray"):
        told = refused(capsys, "learn", network, "survey.csv", "--missing", "smoker=9")
        assert "['smoker']" in told


@pytest.mark.parametrize("said", [("--bins", "bmi=20,30"), ("--states", "xray=neg,pos,both")])
def test_states_and_cuts_that_a_network_has_itself_are_kept_with_a_note(
    said: tuple[str, str], survey: Path, capsys: Captured
) -> None:
    for command in (("learn", "s.json"), ("diagnose", "s.json")):
        assert run(*command, "survey.csv", *said) == 0
        assert f"({said[0]})" in capsys.readouterr().err


def test_columns_that_do_not_matter_are_named_once(survey: Path, capsys: Captured) -> None:
    assert run("learn", "Smoker -> xray", "survey.csv", "-o", "r.json") == 0
    assert ": bmi." in capsys.readouterr().err
    for command in (("learn", "r.json"), ("evaluate", "r.json"), ("impute", "r.json")):
        assert run(*command, "survey.csv", "--without", "bmi") == 0
        assert "bmi" not in capsys.readouterr().err


def test_a_network_in_place_of_data_is_called_one(survey: Path, capsys: Captured) -> None:
    told = refused(capsys, "learn", "s.json", "s.json")
    assert "'s.json'" in told


def test_recovery_asks_for_no_states(survey: Path, capsys: Captured) -> None:
    edges = ("Z -> X; Z -> Y; X -> Y", "Z -> R[Y]", "--query", "Y | do(X)")
    assert run("recover", *edges) == 0
    captured = capsys.readouterr()
    assert "Z, X, Y" in captured.err
    assert "RECOVERABLE" in captured.out
    stated = [word for name in "XYZ" for word in ("--states", f"{name}=a,b")]
    assert run("recover", *edges, *stated) == 0
    again = capsys.readouterr()
    assert again.out == captured.out
    assert not again.err


@pytest.mark.parametrize("typed", ["abc", "1,5", "two", "", "nan"])
def test_pseudo_counts_that_are_not_a_number_are_wrong_usage(typed: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("learn", "s.json", "survey.csv", "--pseudo-counts", typed)
    assert "0, or 'learn'" in capsys.readouterr().err


def test_codes_of_missing_values_may_stand_before_the_files(survey: Path, capsys: Captured) -> None:
    rows = survey / "survey.csv"
    rows.write_text(rows.read_text().replace("no,22,neg", "DK,22,RF"))
    for typed in (["--missing", "DK,RF"], ["--missing", "DK", "--missing", "xray=RF"]):
        assert run("learn", *typed, "s.json", "survey.csv") == 0
        assert run("learn", "s.json", "survey.csv", *typed) == 0


@pytest.mark.parametrize("size", ["1GB", "1G", "0.5", "500MB", "1.5 GiB"])
def test_memory_takes_a_unit(survey: Path, size: str) -> None:
    assert run("learn", "s.json", "survey.csv", "--memory", size) == 0


def test_several_tables_are_not_printed(survey: Path, capsys: Captured) -> None:
    assert run("learn", "s.json", "survey.csv", "--intervals", "-o", "r.json") == 0
    words = ("impute", "r.json", "survey.csv", "--draws", "2")
    told = refused(capsys, *words, "--json", "-o", "x.csv")
    assert "--json" in told
    assert "with -o" in refused(capsys, *words)


def test_an_answer_without_data_behind_it_names_the_option(survey: Path, capsys: Captured) -> None:
    assert (
        run(
            "learn",
            "Smoker, bmi -> xray",
            "survey.csv",
            "--states",
            "bmi=19,22,25,31.5",
            "-o",
            "r.json",
        )
        == 0
    )
    capsys.readouterr()
    assert run("query", "r.json", "xray | Smoker=no, bmi=31.5", "--json") == 0
    assert "--unsupported bounds" in capsys.readouterr().err


def test_draws_from_edges_need_a_result_with_intervals(survey: Path, capsys: Captured) -> None:
    words = ("impute", "Smoker -> xray", "survey.csv", "--draws", "5")
    assert "survey.csv" not in (told := refused(capsys, *words))
    assert "DATA --intervals -o result.json" in told
    assert "-o net.json" in refused(capsys, *words[:3])


def test_what_is_set_is_not_called_unobserved(survey: Path, capsys: Captured) -> None:
    assert run("learn", "Smoker -> xray", "survey.csv", "-o", "r.json") == 0
    told = refused(capsys, "query", "r.json", "xray | do(Smoker=5)")
    assert "'5'" in told
    assert "observed" not in told


def test_what_may_be_edges_is_answered_with_how_they_are_typed(
    survey: Path, capsys: Captured
) -> None:
    for words in (("Smoker", "-", "survey.csv"), ("Smoker", "xray", "survey.csv")):
        assert "'Smoker -> B'" in refused(capsys, "learn", *words)
    assert "'Smoker -> xray'" in refused(capsys, "learn", "Smoker,xray", "survey.csv")


@pytest.mark.parametrize(
    "option",
    [("--states", "xray=neg,,pos"), ("--missing", "xray=7,,9"), ("--replicates", "brr: a,,b")],
)
def test_an_empty_name_in_a_list_is_refused_in_words(
    option: tuple[str, str], survey: Path, capsys: Captured
) -> None:
    told = refused(capsys, "learn", "Smoker -> xray", "survey.csv", *option)
    assert f"{option[0]}: " in told
    assert ",," in told


LONG = "x" * 300  # longer than any name of a file may be
FILES = [
    f"learn {LONG} survey.csv",
    f"learn s.json {LONG}.csv",
    f"learn s.json {LONG}.parquet",
    f"learn s.json survey.csv --missingness {LONG}",
    f"learn s.json survey.csv -o {LONG}.json",
    f"recover s.json {LONG}",
    f"simulate s.json --rows 3 -o out.csv --missingness {LONG}",
    f"convert Smoker->xray {LONG}.csv -o out.json",
    f"studio {LONG}",
]


@pytest.mark.parametrize("typed", FILES, ids=lambda typed: typed.replace(LONG, "LONG"))
def test_a_name_too_long_for_a_file_is_refused_in_words(
    typed: str, survey: Path, capsys: Captured
) -> None:
    assert LONG[:40] in refused(capsys, *typed.split())


def test_a_long_missingness_graph_is_not_taken_for_the_name_of_a_file(
    survey: Path, capsys: Captured
) -> None:
    graph = "; ".join(["Smoker -> R[xray]", "bmi -> R[xray]"] * 20)
    assert run("learn", "s.json", "survey.csv", "--method", "em", "--missingness", graph) == 0


def test_lists_add_up_where_an_option_is_given_several_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command, words in {
        "structure": "rows.csv",
        "learn": "A->B rows.csv",
        "predict": "r.json rows.csv --targets B",
    }.items():
        options = parse_command_line(
            [command, *words.split(), *["--without", "A,B", "--without", "C"]]
        )
        assert options.without == ["A", "B", "C"]
        assert parse_command_line([command, *words.split()]).without == []
    several = "--fully-observed A --fully-observed B,C --groups A --groups B --latent L --latent M"
    options = parse_command_line(["learn", "A->B", "rows.csv", *several.split()])
    assert options.fully_observed == ["A", "B", "C"]
    assert (options.groups, options.latent) == (["A", "B"], ["L", "M"])
    with pytest.raises(SystemExit):
        parse_command_line(["learn", "A->B", "rows.csv", "--groups", "learn", "--groups", "A"])
    options = parse_command_line(
        ["predict", "r.json", "rows.csv", *["--targets", "B", "--keep", "I", "--keep", "J"]]
    )
    assert options.keep == ["I", "J"]
    several = "--tiers A,B;C --tiers D --required A->B --required C->D"
    (tmp_path / "rows.csv").write_text("A,B,C,D\n" + "a,b,c,d\nx,y,z,w\na,y,c,w\n" * 20)
    options = parse_command_line(["structure", "rows.csv", *several.split(), "--json"])
    assert options.tiers == [["A", "B"], ["C"], ["D"]]
    assert run("structure", "rows.csv", *several.split(), "-o", "net.bif") == 0
    assert {("A", "B"), ("C", "D")} <= {*lc.read_network("net.bif").edges}


def test_files_add_up_where_an_option_is_given_several_times() -> None:
    twice = ["--data", "a.csv", "--data", "b.csv", "c.csv"]
    assert parse_command_line(["evaluate", "alarm", *twice]).data == ["a.csv", "b.csv", "c.csv"]
    assert parse_command_line(["recover", "alarm", "R[CVP]", *twice]).data == [
        "a.csv",
        "b.csv",
        "c.csv",
    ]


@pytest.mark.parametrize("typed", [["--missing", "-9,no"], ["--missing=-9,no"]])
def test_codes_may_begin_with_a_minus_sign(survey: Path, typed: list[str]) -> None:
    (survey / "coded.csv").write_text("Smoker,xray\n" + "yes,-9\nyes,a\nno,b\nold,a\n" * 9)
    assert run("learn", "Smoker -> xray", "coded.csv", *typed, "-o", "r.json") == 0
    learned = lc.read_network("r.json").states_of
    assert learned == {"Smoker": ("old", "yes"), "xray": ("a", "b")}
    assert run("learn", "Smoker -> xray", "coded.csv", "--missing", "xray=-9", *typed) == 0


def test_an_outcome_in_place_of_the_network_is_answered_with_what_is_expected(
    survey: Path, capsys: Captured
) -> None:
    told = refused(capsys, "learn", "xray", "survey.csv")
    assert "'xray' is not a network" in told
    assert "'xray -> B'" in told
