"""Numbers with decimal commas: cut, counted among all columns, and named where they do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

import lacunet
from lacunet.data.bins import BinsError


def file_of(folder: Path, numbers: list[str]) -> str:
    path = folder / "numbers.csv"
    path.write_text("A;B\n" + "".join(f"{text};{'uv'[n % 2]}\n" for n, text in enumerate(numbers)))
    return str(path)


@pytest.mark.parametrize("bins", [4, "auto", {"A": 4}])
def test_columns_with_decimal_commas_are_cut_as_those_with_points(
    tmp_path: Path, bins: int | str | dict[str, int]
) -> None:
    points = [f"{n / 4:.2f}" for n in range(200)]
    path = file_of(tmp_path, points)
    by_points = lacunet.Network.from_data(lacunet.Data(path, delimiter=";", bins=bins), "A -> B")
    path = file_of(tmp_path, [text.replace(".", ",") for text in points])
    data = lacunet.Data(path, delimiter=";", decimal=",", bins=bins)
    by_commas = lacunet.Network.from_data(data, "A -> B")
    assert by_commas.states("A") == by_points.states("A")
    assert len(by_commas.states("A")) in (4, 5)


@pytest.mark.parametrize(("decimal", "number"), [(",", "33.5"), (".", "33,5")])
def test_the_other_decimal_character_is_named(tmp_path: Path, decimal: str, number: str) -> None:
    path = file_of(tmp_path, [number, "34", "35", "36"])
    other = {",": ".", ".": ","}[decimal]
    with pytest.raises(BinsError, match=rf"33.5(.|\n)*decimal='{other}'"):
        lacunet.learn("A -> B", lacunet.Data(path, delimiter=";", decimal=decimal, bins={"A": 2}))


@pytest.mark.parametrize(("decimal", "number"), [(",", "1.234,5"), (".", "1,234.5")])
def test_thousands_separators_are_named(tmp_path: Path, decimal: str, number: str) -> None:
    path = file_of(tmp_path, [number, "34", "35", "36"])
    with pytest.raises(BinsError, match=r"234(.|\n)*thousands"):
        lacunet.learn("A -> B", lacunet.Data(path, delimiter=";", decimal=decimal, bins={"A": 2}))


def test_numbers_of_a_numeric_type_have_points_whatever_texts_have() -> None:
    columns = {"A": [n / 4 for n in range(200)], "B": ["u", "v"] * 100}
    data = lacunet.Data(columns, decimal=",", bins=4)
    assert len(lacunet.Network.from_data(data, "A -> B").states("A")) == 4
