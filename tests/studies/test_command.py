"""The studies as somebody types them: ``python -m studies``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lacunet.network.catalogue import example
from lacunet.network.formats.files import write_network
from studies.command import NAMES, main
from studies.paper.studies import STUDIES, study_named, with_settings
from studies.problems.learners import learners_named
from studies.problems.sources import Source
from studies.runner.journal import read_journal

Captured = pytest.CaptureFixture[str]


def informed(folder: Path, *more: str) -> list[str]:
    return [
        *(
            "table-informed",
            "--networks",
            "asia",
            "--sizes",
            "100",
            "--repetitions",
            "2",
        ),
        *(
            "--settings",
            "informed",
            "--methods",
            "direct-mcar,em-1",
            "--test-rows",
            "100",
            "-o",
            str(folder),
            *more,
        ),
    ]


def test_a_study_is_run_reported_and_extended(tmp_path: Path, capsys: Captured) -> None:
    assert main(informed(tmp_path, "--json")) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["cells"] == 4
    assert main(informed(tmp_path, "--repetitions", "1,200:2", "--sizes", "100,200")) == 0
    out, err = capsys.readouterr()
    assert "4 of 6 cells are to be run" in err
    assert "EM-1" in out
    assert (tmp_path / "table.md").exists()
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 1 + 8


def test_every_study_can_be_named_on_the_command_line() -> None:
    assert set(NAMES) == {*STUDIES, "example-appendix", "all", "page", "restore"}


def test_a_forecast_runs_nothing(tmp_path: Path, capsys: Captured) -> None:
    assert main(informed(tmp_path / "none", "--forecast")) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "4 of 4 cells are to be run" in err
    assert not (tmp_path / "none").exists()


def test_a_quick_forecast_does_not_speak_of_days(capsys: Captured) -> None:
    assert main(["table-mcar", "--quick", "--forecast"]) == 0
    told = capsys.readouterr().err
    assert "a minute or two" in told
    assert " h" not in told


def test_a_quick_folder_is_reported_without_saying_again_how_it_was_run(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    quick = ["table-mcar", "--quick", "--networks", "asia", *TINY[:-2]]
    assert main([*quick, "--seed", "5"]) == 0
    first = capsys.readouterr().out
    folder = "build/studies/table-mcar-quick"
    for more in (["-o", folder], ["--quick"], ["--quick", "-o", folder]):
        assert main(["table-mcar", "--report", *more]) == 0
        assert capsys.readouterr().out == first
    assert main(["table-mcar", "--report"]) == 1
    assert "add --quick" in capsys.readouterr().err
    assert not (tmp_path / "build/studies/table-mcar").exists()


def test_a_setting_that_does_not_suit_a_network_is_refused_before_anything_is_run(
    tmp_path: Path, capsys: Captured
) -> None:
    write_network(example("asia"), tmp_path / "asia.bif")
    command = ["figure-alarm", "--networks", str(tmp_path / "asia.bif")]
    assert main([*command, "-o", str(tmp_path / "run"), *TINY]) == 1
    told = capsys.readouterr().err
    assert "the setting 'second' does not suit the network 'asia'" in told
    assert "2 fully observed variables" in told
    assert not (tmp_path / "run").exists()


def test_if_no_cell_gives_a_network_the_cause_is_told_and_the_exit_code_is_one(
    tmp_path: Path, capsys: Captured
) -> None:
    command = ["mnar", "--networks", "pair", *TINY, "-o", str(tmp_path)]
    assert main([*command, "--methods", "informed-direct,informed-factored"]) == 1
    told = capsys.readouterr().err
    assert "no cell gave a network" in told
    assert "1 cell refused: informed-direct needs a separator" in told


@pytest.mark.parametrize(
    ("unused", "named"),
    [
        (["example-appendix", "--sizes", "100"], "--sizes"),
        (["example-appendix", "--quick"], "--quick"),
        (["example-appendix", "-o", "somewhere"], "--output"),
        (["table-mcar", "--grid", "grid.bif"], "--grid"),
        (["table-mcar", "--report", "--methods", "em"], "--methods"),
        (["table-mcar", "--report", "--seed", "1"], "--seed"),
        (["table-mcar", "--report", "--retry"], "--retry"),
    ],
)
def test_an_option_without_effect_in_a_study_is_wrong_usage(
    unused: list[str], named: str, capsys: Captured
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*unused])
    assert stopped.value.code == 2
    assert named in capsys.readouterr().err


def test_the_appendix_example_agrees_with_the_paper(capsys: Captured) -> None:
    assert main(["example-appendix"]) == 0
    assert "6 of 6 lines list the rows that the paper lists" in capsys.readouterr().out
    assert main(["example-appendix", "--json"]) == 0
    assert all(line["agrees"] for line in json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    "wrong",
    [
        ["--sizes", "0"],
        ["--sizes", "ten"],
        ["--repetitions", "2,5"],
        ["--limits", "-1"],
        ["--processes", "0"],
    ],
)
def test_wrong_numbers_are_wrong_usage(wrong: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(informed(tmp_path, *wrong))
    assert stopped.value.code == 2


def test_an_unknown_method_in_a_study_lists_the_known(tmp_path: Path, capsys: Captured) -> None:
    assert main(informed(tmp_path, "--methods", "magic")) == 1
    assert "factored-mar" in capsys.readouterr().err


TINY = ["--sizes", "50", "--repetitions", "1", "--methods", "direct-mcar", "--test-rows", "50"]


def test_a_folder_keeps_to_one_study_one_seed_and_one_network_of_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["-o", str(tmp_path / "run")]
    assert main(["table-mcar", "--networks", "asia", *TINY, *folder]) == 0
    assert "(here: asia)" in capsys.readouterr().out
    assert main(["figure-fire-alarm", "--report", *folder]) == 1
    assert "keeps results with study 'table-mcar'" in capsys.readouterr().err
    again = ["table-mcar", "--networks", "asia", *TINY, *folder]
    assert main([*again, "--seed", "1"]) == 1
    assert "with seed 0, not 1" in capsys.readouterr().err
    write_network(example("cancer"), tmp_path / "asia.bif")
    other = ["--networks", str(tmp_path / "asia.bif")]
    assert main(["table-mcar", *other, *TINY, *folder]) == 1
    assert "two different networks are called 'asia'" in capsys.readouterr().err
    assert main(again) == 0


def test_all_runs_the_schedule_and_a_method_wherever_auto_stands(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    asia, tiny = (Source("asia"),), {"sizes": (50,), "repetitions": 1, "test_rows": 50}
    large = replace(study_named("table-large"), networks=asia, **tiny)
    parts = [
        replace(with_settings(large, ["first"]), learners=learners_named(names))
        for names in (["direct-mcar"], ["auto"])
    ]
    monkeypatch.setattr("studies.paper.schedule.SCHEDULE", tuple(parts))
    assert main(["all", "-o", str(tmp_path)]) == 0
    assert main(["all", "-o", str(tmp_path), "--methods", "listwise"]) == 0
    found = read_journal(tmp_path / "table-large").values()
    limits = {(one.method, one.limit) for one in found}
    assert limits == {
        (name, limit)
        for name in ("direct-mcar", "auto", "listwise")
        for limit in (60.0, 300.0, 1500.0)
    }
    assert (tmp_path / "table-large" / "table.md").exists()
    capsys.readouterr()
    assert main(["all", "-o", str(tmp_path), "--forecast"]) == 0
    assert capsys.readouterr().err.count("0 of 3 cells are to be run") == 2


@pytest.mark.parametrize("name", ["all", "page"])
def test_what_all_and_page_do_not_take_is_wrong_usage(name: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([name, "--sizes", "100"])
    assert stopped.value.code == 2
