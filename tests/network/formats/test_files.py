"""Network files: names, compression, encodings, and files that are not what they say."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from examples import RAIN
from lacunet.data.data_files import READER_OF_ENDING
from lacunet.network.catalogue import example
from lacunet.network.formats import xdsl
from lacunet.network.formats.endings import FORMATS
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.files import read_network, write_network
from lacunet.network.network import Network

NAMED = [suffix for suffix in FORMATS if suffix != ".uai"]


def test_every_format_of_the_interface_has_its_suffix() -> None:
    assert list(FORMATS)[:9] == [
        ".bif",
        ".xmlbif",
        ".bifxml",
        ".xml",
        ".net",
        ".dsc",
        ".xdsl",
        ".uai",
        ".json",
    ]


@pytest.mark.parametrize("ending", ["", ".gz", ".GZ"])
@pytest.mark.parametrize("suffix", [*NAMED, ".BIF"])
def test_the_name_of_a_file_says_its_format(tmp_path: Path, suffix: str, ending: str) -> None:
    path = tmp_path / f"rain.v2{suffix}{ending}"
    write_network(RAIN, path)
    assert read_network(str(path)) == RAIN
    assert path.read_bytes().startswith(b"\x1f\x8b") == bool(ending)
    assert os.listdir(tmp_path) == [path.name]


def test_the_same_network_compresses_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.bif.gz", "two.bif.gz"):
        write_network(RAIN, tmp_path / name)
    content = (tmp_path / "one.bif.gz").read_bytes()
    assert content == (tmp_path / "two.bif.gz").read_bytes()
    assert content[4:8] == bytes(4)  # the time of writing


@pytest.mark.parametrize("name", ["rain", "rain.txt", "rain.gz", ".bif", "rain.bif.zip"])
def test_a_name_that_says_no_format_is_refused_with_those_that_do(name: str) -> None:
    with pytest.raises(FormatError, match=r"\.bif, \.xmlbif, .*\.json.*\.gz"):
        read_network(name)
    with pytest.raises(FormatError, match="written"):
        write_network(RAIN, name)


@pytest.mark.parametrize("suffix", READER_OF_ENDING)
def test_the_name_of_data_is_refused_as_such(suffix: str) -> None:
    message = f"rows{suffix}: this is the name of data.*\n.*the network comes first, then the data"
    with pytest.raises(FormatError, match=message) as error:
        read_network(f"rows{suffix}")
    assert "--edges" not in error.value.hint


@pytest.mark.parametrize("edges", ["A -> B", "B <- A; C", "A → x.bif"])
def test_edges_in_place_of_a_network_are_refused_with_what_takes_edges(edges: str) -> None:
    with pytest.raises(FormatError, match="looks") as error:
        read_network(edges)
    assert str(error.value).count(repr(edges)) == 1
    assert "lacunet.learn(edges, data)" in error.value.hint
    assert "(lacunet convert EDGES DATA -o net.json)" in error.value.hint


def test_a_file_whose_name_holds_an_arrow_is_read(tmp_path: Path) -> None:
    write_network(RAIN, tmp_path / "A -> B.json")
    assert read_network(tmp_path / "A -> B.json") == RAIN


def content_of(tmp_path: Path, name: str, content: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.bif", b"", "is empty"),
        ("a.bif", b" \r\n\t", "is empty"),
        ("a.json.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("a.bif", b"network \xff {}", "utf-8"),
        ("a.xdsl", b'<?xml version="1.0" encoding="klingon"?>', "klingon"),
        ("a.bif", gzip.compress(b"network x { }", mtime=0), "gzip"),
        ("a.bif.gz", b"network x { }", "valid"),
        ("a.bif.gz", gzip.compress(b"network x { }", mtime=0)[:-9], "valid"),
        (
            "a.bif.gz",
            gzip.compress(b"network x { }" * 9, mtime=0)[:12] + b"\xff" * 30,
            "valid",
        ),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = content_of(tmp_path, name, content)
    with pytest.raises(FormatError, match=message) as refusal:
        read_network(path)
    assert str(refusal.value).startswith(str(path))


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none\.bif"):
        read_network(tmp_path / "none.bif")
    (tmp_path / "folder.bif").mkdir()
    with pytest.raises(FormatError, match=r"folder\.bif"):
        read_network(tmp_path / "folder.bif")
    with pytest.raises(FormatError, match=r"folder\.bif"):
        write_network(RAIN, tmp_path / "folder.bif")
    with pytest.raises(FormatError, match=r"rain\.bif"):
        write_network(RAIN, tmp_path / "nowhere" / "rain.bif")
    with pytest.raises(FormatError, match="read"):
        read_network("a\x00b.bif")
    with pytest.raises(FormatError, match="written"):
        write_network(RAIN, "a\x00b.bif")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    write_network(RAIN, tmp_path / "rain.bif")
    text = (tmp_path / "rain.bif").read_bytes()
    assert read_network(content_of(tmp_path, "marked.bif", b"\xef\xbb\xbf" + text)) == RAIN


def test_an_xml_file_is_read_in_the_encoding_it_declares(tmp_path: Path) -> None:
    text = (
        '<?xml version="1.0" encoding="ISO-8859-1"?><smile><nodes><cpt id="Größe">'
        '<state id="é"/><probabilities>1</probabilities></cpt></nodes></smile>'
    )
    path = content_of(tmp_path, "latin.xdsl", text.encode("latin-1"))
    assert read_network(path) == Network({"Größe": ["é"]}, {}, {"Größe": [1.0]})


def test_a_network_that_does_not_fit_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = content_of(tmp_path, "rain.net", b"precious")
    with pytest.raises(FormatError, match="NET cannot carry"):
        write_network(Network({"very low": ["x"]}), path)
    assert path.read_bytes() == b"precious"


def test_a_failure_while_writing_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    path = content_of(tmp_path, "rain.bif", b"precious")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FormatError, match="space"):
        write_network(RAIN, path)
    assert path.read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["rain.bif"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "link.bif").symlink_to(tmp_path / "real.bif")
    write_network(RAIN, tmp_path / "link.bif")
    assert (tmp_path / "link.bif").is_symlink()
    assert read_network(tmp_path / "real.bif") == RAIN


def test_a_name_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="written"):
        write_network(Network({"\ud800": ["x"]}), tmp_path / "a.json")


def test_a_message_names_file_and_line(tmp_path: Path) -> None:
    text = xdsl.render(RAIN).replace("0.99 0.01", "0.99 x", 1)
    path = content_of(tmp_path, "rain.xdsl", text.encode())
    with pytest.raises(FormatError, match=r"rain\.xdsl:13: the CPT of 'Sprinkler' holds 'x'"):
        read_network(path)


@pytest.mark.parametrize("name", ["rain.json", "rain.xmlbif"])
def test_a_file_that_is_cut_short_is_refused_with_the_way_out(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_network(RAIN, path)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(FormatError, match=f"{name}") as error:
        read_network(path)
    assert "cut short" in error.value.hint


def test_a_bundled_network_is_read_by_its_name_unless_there_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_network("asia") == example("asia")
    (tmp_path / "asia").write_text("")
    with pytest.raises(FormatError, match="format"):
        read_network("asia")
    for name in ("alrm", "alrm.bif", "nowhere/alrm.bif.gz"):
        with pytest.raises(FormatError, match="'alarm'"):
            read_network(name)
