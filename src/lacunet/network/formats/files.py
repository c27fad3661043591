"""Network files: the name says the format, ``.gz`` that it is compressed."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Collection, Iterable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

from lacunet.atomic_files import replacing, where_instead
from lacunet.errors import warn
from lacunet.network.arguments import clear_arguments
from lacunet.network.askable import Askable
from lacunet.network.catalogue import bundled_names, example
from lacunet.network.edge_texts import (
    DATA_ALONE,
    FROM_EDGES,
    holds_edges,
    refuse_edges,
    with_arrows,
)
from lacunet.network.errors import NetworkError
from lacunet.network.formats.draft import refuse_size
from lacunet.network.formats.endings import FORMATS, OF_DATA, READABLE_FORMATS
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.names import rename_portably
from lacunet.network.formats.source import MAX_FILE_BYTES, Source
from lacunet.network.network import Network
from lacunet.text import did_you_mean, first_of, listed, near_files

_CARRIES_ALL = "lacunet_json"
_WITHOUT_NAMES = "uai"
_CARRIES_SUPPORT = ("bif", "xdsl")
_SHAPES_CARRIED = {"xdsl": ("noisy-or", "noisy-max")}
_MAY_BE_LATIN = ("net", "dsc", "dne", "dsl")  # of programs older than their users' UTF-8

MAX_RENAMED_LISTED = 20  # new names, in a warning
_GZIP = b"\x1f\x8b"
_XML_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


class HasNetwork(Protocol):
    """What has a network, such as the result of learning one."""

    @property
    def network(self) -> Network:
        """The network."""
        ...


# Whatever says which network is meant: the last two are a file's path and a bundled network's name.
AnyNetwork = Askable | HasNetwork | os.PathLike[str] | str
# Beside data, which say the states, also edges in any form that `Network.from_data` takes.
NetworkOrEdges = AnyNetwork | Iterable[Any]


def as_network(value: NetworkOrEdges) -> Network:
    """The network that is meant: itself, that of a result, in a file, or a bundled one.

    Raises
    ------
    NetworkError
        It is none of these; or it is a missingness graph, which is more than its network.
    """
    if isinstance(value, Network):
        return value
    if any(kind.__name__ == "MissingnessGraph" for kind in type(value).__mro__):
        raise NetworkError(
            "a network is needed, and of a missingness graph only the network would be used here.",
            "give graph.network; lacunet.learn, explain and effect take the graph itself.",
        )
    network = read_network(value) if isinstance(value, str | os.PathLike) else value
    network = getattr(network, "network", network)
    if not isinstance(network, Network):
        raise NetworkError(
            f"a network is needed, not {type(value).__name__}.",
            "give a lacunet.Network, the result of lacunet.learn, a file's path or the name of a "
            "bundled network; the network comes first, then the data. "
            f"From edges and data lacunet.learn(edges, data) learns one, and {FROM_EDGES} makes "
            "one without CPTs.",
        )
    return network


def as_learned(value: Any) -> Any:
    """What is given, with all that is known of it: the path of a result's file is that result.

    Anything else is as it was, for `as_network`.
    """
    if not isinstance(value, str | os.PathLike):
        return value
    name = os.fspath(value)
    if suffix_of(name) != ".json" or not os.path.exists(name):
        return value
    from lacunet.learning.result import read_completing  # up the road: loaded for such a file

    return read_completing(value)


def is_network(value: object) -> bool:
    """Whether it is a network, a result, or the path or name of one."""
    if isinstance(value, str | os.PathLike):
        return names_network(os.fspath(value))
    return isinstance(getattr(value, "network", value), Network)


def is_file_of_edges(name: str) -> bool:
    """Whether there is a file of this name that holds edges, and that is not a network's."""
    return not names_network(name) and holds_edges(name, is_table=suffix_of(name) in OF_DATA)


def names_network(name: str) -> bool:
    """Whether a text is the name of a bundled network, or of a file with a network's ending."""
    return suffix_of(name) in READABLE_FORMATS or name in bundled_names()


@clear_arguments
def read_network(path: str | os.PathLike[str], *, limit: int = MAX_FILE_BYTES) -> Network:
    """Read a network from a file; the format follows the file's name.

    Parameters
    ----------
    path
        A file that ends in one of `READABLE_FORMATS`, or that with ``.gz`` behind; or, where
        there is no such file, the name of a bundled network such as ``"alarm"``.
    limit
        The most bytes that its CPTs may take, and the text that a ``.gz`` file unpacks to: a
        few lines or a small archive can stand for more than any memory holds.

    Returns
    -------
    The network, without CPTs where the file gives none. Rows whose sums are off by more than
    1e-6 and up to 1e-2 are rescaled with a `LacunetWarning`.

    Raises
    ------
    FormatError
        The file cannot be read as what its name says; the message names file and line.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        if name in bundled_names():
            return example(name)
        refuse_edges(name)
    return read_with_text(name, limit)[0]


def read_with_text(
    path: str | os.PathLike[str], limit: int = MAX_FILE_BYTES
) -> tuple[Network, str]:
    """The network in a file, and the text of the file."""
    name = os.fspath(path)
    _format_of(name)  # an ending that is not known is refused before the file is looked for
    return parse_content(name, content_of(name), limit)


def parse_content(name: str, content: bytes, limit: int) -> tuple[Network, str]:
    """The network that the content of a file of this name describes, and its text."""
    text = _text_of(name, content, limit)
    return _module_of(name).parse(Source.of(name, text, limit)), text


def write_network(
    network: AnyNetwork, path: str | os.PathLike[str], *, rename: bool = False
) -> None:
    """Write a network to a file; the format follows the file's name.

    The file appears whole or not at all (`lacunet.atomic_files.replacing`), and reading it gives
    back the same network to the last bit of every probability. A format that does not carry
    all that the network knows says in a warning what was left out; ``.json`` carries all.

    Parameters
    ----------
    network
        What to write, with or without CPTs; also a result of learning.
    path
        A file name that ends in one of the `FORMATS`, or that with ``.gz`` behind.
    rename
        Replace names that the format cannot carry, ``40-59`` by ``s40_59``, in BIF also those
        that pyAgrum and bnlearn do not read, and in UAI all of them by ``X0``, ``X1``, ... with
        the states ``0``, ``1``, ...; a warning lists them.

    Returns
    -------
    Nothing; the file is there.

    Raises
    ------
    FormatError
        The format cannot carry the network, or the file cannot be written.
    """
    _write(as_network(network), os.fspath(path), rename=rename)


def write_with_learned(
    network: Network, learned: str, path: str | os.PathLike[str], *, rename: bool = False
) -> None:
    """Write a network with what a result knows beyond it, which only ``.json`` carries."""
    _write(network, os.fspath(path), learned, rename=rename)


def _write(
    network: Network, name: str, learned: str | None = None, *, rename: bool = False
) -> None:
    """Write a file, packed where its name says so, and say what it does not carry."""
    writer = _writer_of(name)
    kind = _format_of(name)
    lost = []
    if kind == _CARRIES_ALL:
        text = writer.render(network, learned)
    else:
        lost = not_carried(
            network, has_support=kind in _CARRIES_SUPPORT, shapes=_SHAPES_CARRIED.get(kind, ())
        )
        if learned is not None:
            lost.append("how sure the CPTs are")
        text = writer.render(_with_portable_names(network, writer, name) if rename else network)
    _replace_file(name, text)
    if lost:
        warn(f"{name}: the format does not carry: {'; '.join(lost)}. A .json file does.")


def _with_portable_names(network: Network, writer: Any, name: str) -> Network:
    """The network with names that the format of a file can carry, and a warning of new ones."""
    is_portable = getattr(writer, "is_portable", _is_any)
    is_numbered = _format_of(name) == _WITHOUT_NAMES
    renamed, new = rename_portably(network, writer.render, is_portable, is_numbered=is_numbered)
    if new:
        warn(f"{name}: new names: {first_of(new, MAX_RENAMED_LISTED)}.")
    return renamed


def _replace_file(name: str, text: str) -> None:
    """Write a text to a file, whole or not at all, packed where its name says so."""
    if os.path.isdir(name):
        raise FormatError.folder(name)
    try:
        content = text.encode()
        with replacing(name) as file:
            file.write(gzip.compress(content, mtime=0) if _is_packed(name) else content)
    except (OSError, ValueError) as error:  # a null byte in the name, a character beyond Unicode
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"{name} cannot be written: {reason}.", where_instead(name)) from None


def _is_any(variable: str, state: str) -> bool:  # noqa: ARG001
    """That a format's own grammar is all that other programs ask of names."""
    return True


def not_carried(
    network: Network,
    *,
    has_support: bool = False,
    has_cuts: bool = False,
    shapes: Collection[str] = (),
) -> list[str]:
    """What a network knows beside states, structure and CPTs, where there is no place for it.

    Parameters
    ----------
    has_support, has_cuts
        Whether there is a place for which CPT rows data support, and for cut points.
    shapes
        The shapes of CPTs that there is a place for.
    """
    has_gaps = not all(mask.all() for mask in (network.support or {}).values())
    cuts = network.cuts_of
    codes = network.codes_of
    rules = network.not_asked_of
    shaped = [f"{v} {s.name}" for v, s in network.shapes_of.items() if s.name not in shapes]
    known = [
        (has_gaps and not has_support, "which CPT rows no data support"),
        (cuts and not has_cuts, f"where {_with_verb(cuts)} cut into intervals"),
        (codes, f"what the codes of {listed(codes)} mean"),
        (rules, f"when {_with_verb(rules)} not asked"),
        (network.tied, "which variables share a CPT"),
        (shaped, f"the shapes of CPTs ({first_of(shaped, 3)}): their tables are written"),
        (network.mechanisms, "how values went missing"),
        (network.reversible, "for which edges the data do not tell the direction"),
        (network.bootstrap is not None, "that the edges were learned, and how sure they are"),
    ]
    return [words for is_lost, words in known if is_lost]


def _with_verb(names: Collection[str]) -> str:
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'}"


def check_target(network: Network, path: str | os.PathLike[str]) -> None:
    """Refuse early what `write_network` would refuse after hours of learning.

    The names and states of the network are tried in the format.
    """
    name = os.fspath(path)
    uniform = {v: [1 / network.cardinality(v)] * network.cardinality(v) for v in network.variables}
    _writer_of(name).render(Network(network.states_of, {}, uniform))


def _module_of(name: str) -> Any:
    """The module of a file's format, which is loaded where a file has that format."""
    return import_module(f"lacunet.network.formats.{_format_of(name)}")


def _writer_of(name: str) -> Any:
    """The module that writes a file of this name."""
    suffix = suffix_of(name)
    if suffix not in FORMATS:
        raise FormatError(
            f"{name}: a network cannot be written as {suffix or 'a file without an ending'}.",
            f"end the name with one of {', '.join(FORMATS)}, each also with .gz.",
        )
    return _module_of(name)


def suffix_of(name: str) -> str:
    """What the name of a file ends with, but for ``.gz``."""
    return Path(name.lower().removesuffix(".gz")).suffix


def _is_packed(name: str) -> bool:
    return name.lower().endswith(".gz")


def _format_of(name: str) -> str:
    suffix = suffix_of(name)
    if suffix in READABLE_FORMATS:
        return READABLE_FORMATS[suffix]
    if suffix in OF_DATA:
        raise FormatError(
            f"{name}: this is the name of data, not of a network.",
            f"the file of a network ends with one of {', '.join(READABLE_FORMATS)}; where data are "
            f"taken, the network comes first, then the data; {DATA_ALONE}{near_bundled(name)}",
        )
    if meant := with_arrows(name):
        raise FormatError(f"{name!r} is neither a network file nor edges.", meant)
    column = name if name.isidentifier() else "A"
    message = f"{name!r} is not a network: a network, or edges in its place, are expected here."
    if os.path.exists(name):
        message = f"{name}: the file name does not say which format it has."
    raise FormatError(
        message,
        f"edges between columns of the data go in quotes, '{column} -> B'; the file of a network "
        f"ends with one of {', '.join(READABLE_FORMATS)}, each also with .gz; `lacunet show` lists "
        f"the bundled networks.{near_bundled(name)}",
    )


def near_bundled(name: str) -> str:
    """The bundled network whose name may have been meant, as a hint's last sentence, if any."""
    meant = did_you_mean(os.path.basename(name).partition(".")[0], bundled_names())
    return f" Among the bundled networks: {meant}" if meant else ""


def content_of(name: str) -> bytes:
    """What a file holds; that it is there and can be read is checked."""
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise FormatError(
            f"{name}: there is no such file.",
            f"{near_files(name) or 'check the spelling and the folder.'}{near_bundled(name)}",
        ) from None
    except IsADirectoryError:
        raise FormatError.folder(name) from None
    except (OSError, ValueError) as error:  # a null byte in the name is a ValueError
        raise FormatError(f"{name}: the file cannot be read ({error}).") from None


def _text_of(name: str, content: bytes, limit: int) -> str:
    """The text of a file: UTF-8, unless an XML declaration names another encoding.

    Formats of programs that write no UTF-8 are read as Latin-1 where they are none, with a warning.
    """
    plain = _unpacked(name, content, limit)
    declared = _XML_ENCODING.match(plain)
    encoding = declared[1].decode() if declared else "utf-8"
    try:
        text = plain.decode(encoding).removeprefix("\ufeff")
    except (LookupError, ValueError) as error:
        if declared is None and _format_of(name) in _MAY_BE_LATIN:
            warn(f"{name}: the file is not UTF-8 and was read as Latin-1.")
            return plain.decode("latin-1")
        raise FormatError(
            f"{name}: the file is not {encoding} text ({error}).", "save it as UTF-8 first."
        ) from None
    if not text.strip():
        raise FormatError(f"{name}: the file is empty.")
    return text


def _unpacked(name: str, content: bytes, limit: int) -> bytes:
    """What a file holds, unpacked where its name ends with ``.gz``."""
    if not _is_packed(name):
        if content.startswith(_GZIP):
            raise FormatError(f"{name}: the file is gzip.", "add .gz to its name.")
        return content
    try:
        with gzip.open(BytesIO(content)) as file:
            plain = file.read(limit + 1)  # one byte more than is allowed: then it is refused
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(
            f"{name}: the file is not valid gzip ({error}).",
            "fetch it again, or drop .gz from its name if it is not compressed.",
        ) from None
    refuse_size(name, "the unpacked text", len(plain), limit)
    return plain
