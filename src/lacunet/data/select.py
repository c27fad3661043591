"""What may be asked of a database: one SELECT; and what may be said of it: no secret."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lacunet.data.errors import DataError

READING_WORDS = ("select", "values", "table", "from")  # the first word of a query that only reads
WRITING = ("insert", "update", "delete", "replace", "merge")  # what may follow WITH beside them

# Compiled where they are first used: most data are not in a database.
# Strings, names in quotes, comments: nothing in them is a word of the statement.
_QUOTED = r"""(?xs)
      [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*`
      | (\$\w*\$).*?\1 | --[^\n]* | /\*(?:[^*]|\*(?!/))*\*/"""
_SECRET = r"""(?xi)
      (?P<name>[\w.]*(?:pass(?:word|wd|phrase|file)?|pwd|token|secret|api_?key|access_?key)\w*)
      (?P<sign>\s*(?:=>|=|:)\s*|\s+(?='))
      (?P<value>'(?:[^'\\]|\\.|'')*'|"[^"]*"|[^\s&;,)'"]+)"""
_LOGIN = r"(?<=://)[^/\s'\"@]*(?:@[^/\s'\"@]*)*@"


def check_select(query: str, label: str) -> str:
    """The query without what ends it, if it is one statement that reads.

    Raises
    ------
    DataError
        It is empty, several statements, or one that may change something.

    Examples
    --------
    >>> check_select("select * from visits; -- all", "the query")
    'select * from visits'
    >>> check_select("select * from 'visits.csv'", "the query")
    "select * from 'visits.csv'"
    """
    bare = re.sub(_QUOTED, _blank, query)
    end = len(bare.rstrip().rstrip(";").rstrip())
    words = list(_top_words(bare[:end]))
    first = words[0] if words else ""
    if first == "with":
        first = next((word for word in words if word in (*READING_WORDS[:3], *WRITING)), first)
    if first not in READING_WORDS or ";" in bare[:end]:
        begins = ""
        if first not in ("", *READING_WORDS):
            begins = f", and begins with {first.upper()}"
        raise DataError(
            f"{label} is not one statement that reads{begins}.", "give one SELECT statement."
        )
    return query[:end]


def _blank(match: re.Match[str]) -> str:
    """As much space for a comment, as many quotes for a string: it may end the statement."""
    text = match.group()
    return (" " if text.startswith(("--", "/*")) else "'") * len(text)


def _top_words(bare: str) -> Iterator[str]:
    """The words of a statement that are not in parentheses, unless all of it is."""
    depth = 0
    has_words = False
    for match in re.finditer(r"[()]|\w+|[^\s\w]", bare):
        token = match.group()
        if token == "(":
            depth += has_words
        elif token == ")":
            depth = max(0, depth - 1)
        elif depth == 0 and (token[0].isalpha() or token[0] == "_"):
            has_words = True
            yield token.lower()


def without_secrets(text: str) -> str:
    """The text with three stars for each password, token or key in it.

    Examples
    --------
    >>> without_secrets("host=db user=ann password=xyzzy")
    'host=db user=ann password=***'
    >>> without_secrets("select * from 's3://ann:xyzzy@bucket/rows.csv?token=abc'")
    "select * from 's3://***@bucket/rows.csv?token=***'"
    """
    masked = re.sub(_SECRET, lambda match: f"{match['name']}{match['sign']}***", text)
    return re.sub(_LOGIN, "***@", masked)


def secrets_in(text: str) -> list[str]:
    """The passwords, tokens and keys in a text."""
    return [match["value"].strip("'\"") for match in re.finditer(_SECRET, text)]
