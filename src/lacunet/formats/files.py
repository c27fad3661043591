"""Network files: the name says the format, ``.gz`` that it is compressed."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from threading import get_ident
from types import MappingProxyType, ModuleType

from lacunet.formats import bif, dsc, lacunet_json, net, uai, xdsl, xmlbif
from lacunet.formats.errors import FormatError
from lacunet.formats.source import Source
from lacunet.model.network import Network

# Each module has parse(source) -> Network and render(network) -> str.
FORMATS: Mapping[str, ModuleType] = MappingProxyType(
    {
        ".bif": bif,
        ".xmlbif": xmlbif,
        ".net": net,
        ".dsc": dsc,
        ".xdsl": xdsl,
        ".uai": uai,
        ".json": lacunet_json,
    }
)

_GZIP = b"\x1f\x8b"
_XML_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def read_network(path: str | os.PathLike[str]) -> Network:
    """Read a network from a file; the format follows the file's name.

    Parameters
    ----------
    path
        A file that ends in one of the `FORMATS`, or that with ``.gz`` behind.

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
    form = _format_of(name)
    text = _decoded(name, _content(name))
    if not text.strip():
        raise FormatError.empty(name)
    network: Network = form.parse(Source.of(name, text))
    return network


def write_network(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network to a file; the format follows the file's name.

    The file appears whole or not at all, and reading it gives back the same network to
    the last bit of every probability.

    Parameters
    ----------
    network
        What to write, with or without CPTs.
    path
        A file name that ends in one of the `FORMATS`, or that with ``.gz`` behind.

    Raises
    ------
    FormatError
        The format cannot carry the network, or the file cannot be written.
    """
    name = os.fspath(path)
    text: str = _format_of(name).render(network)
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise FormatError.unwritable(name, error) from None
    if name.lower().endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    _replace(name, content)


def check_target(network: Network, path: str | os.PathLike[str]) -> None:
    """Refuse early what `write_network` would refuse after hours of learning.

    The names and states of the network are tried in the format, and the folder is looked at.
    """
    name = os.fspath(path)
    uniform = {v: [1 / network.cardinality(v)] * network.cardinality(v) for v in network.variables}
    _format_of(name).render(Network(network.states_of, {}, uniform))
    folder = os.path.dirname(os.path.realpath(name))
    if os.path.isdir(name):
        raise FormatError.directory(name)
    if not os.access(folder, os.W_OK):
        raise FormatError.unwritable(name, OSError(f"cannot write into the folder {folder}"))


def _format_of(name: str) -> ModuleType:
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    if suffix not in FORMATS:
        raise FormatError.unknown_suffix(name, FORMATS)
    return FORMATS[suffix]


def _content(name: str) -> bytes:
    try:
        content = Path(name).read_bytes()
    except FileNotFoundError:
        raise FormatError.missing_file(name) from None
    except IsADirectoryError:
        raise FormatError.directory(name) from None
    except (OSError, ValueError) as error:  # a null byte in the name is a ValueError
        raise FormatError.unreadable(name, error) from None
    if not name.lower().endswith(".gz"):
        if content.startswith(_GZIP):
            raise FormatError.compressed(name)
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError.damaged_gzip(name, error) from None


def _decoded(name: str, content: bytes) -> str:
    """The text of a file: UTF-8, unless an XML declaration names another encoding."""
    declared = _XML_ENCODING.match(content)
    encoding = declared[1].decode() if declared else "utf-8"
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except (LookupError, ValueError) as error:
        raise FormatError.undecodable(name, encoding, error) from None


def _replace(name: str, content: bytes) -> None:
    """Put a file in place in one step, so that no reader ever sees half of it."""
    if os.path.isdir(name):
        raise FormatError.directory(name)
    draft = None
    try:
        target = os.path.realpath(name)
        draft = Path(f"{target}.{os.getpid()}.{get_ident()}.tmp")
        with draft.open("xb") as file:
            file.write(content)
        os.replace(draft, target)
    except (OSError, ValueError) as error:
        if draft:
            draft.unlink(missing_ok=True)
        raise FormatError.unwritable(name, error) from None
