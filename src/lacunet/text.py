"""What messages are made of: numbers with nouns, names in lists, what was meant.

Also lists as they are typed, numbers that JSON can hold, and the version that a result or a page
names.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

# Quotes open where a name or state begins and close where one ends; others are characters.
_QUOTED = re.compile(
    r'((?:^|[,|=<>{~]|\bdo\s*\()\s*)"((?:[^"]|"")*)"(?=\s*(?:$|[,|=<>)}~]|:\s*[\d.]|in\s*\{))'
)
COMPARISON = re.compile(r"\s*(?:>=|<=|>|<)\s*[-+]?[\d.][-+.\deEQ]*\s*")  # with a number or date
_SIGNS_IN_BRACES = re.compile(r'[,|"{}:]|^\s|\s$')  # for which a state needs quotes


def own_version() -> str:
    """The version of this code, which a stale installation may not know."""
    return str(import_module("lacunet").__version__)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(3952, "row"), counted(2, "family", "families")
    ('1 row', '3,952 rows', '2 families')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def intervals_in_words(level: float, *, is_credible: bool = False) -> str:
    """What intervals at a level are called.

    Examples
    --------
    >>> intervals_in_words(0.95), intervals_in_words(0.9, is_credible=True)
    ('95% intervals', '90% credible intervals')
    """
    kind = "credible intervals" if is_credible else "intervals"
    return f"{100 * level:g}% {kind}"


def interval_in_words(level: float, *, is_credible: bool = False) -> str:
    """What one interval at a level is called.

    Examples
    --------
    >>> interval_in_words(0.95)
    '95% interval'
    """
    return intervals_in_words(level, is_credible=is_credible).removesuffix("s")


def in_quotes(text: str) -> str:
    r"""A text between quotes, with a backslash before the quotes and backslashes inside.

    >>> print(in_quotes('5"'))
    "5\""
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quotes_blanked(text: str) -> str:
    """A typed text of the same length that has no sign of what stands in quotes.

    >>> quotes_blanked('X | Y="a|b"').count("|")
    1
    """
    return _QUOTED.sub(lambda match: match[1] + "\0" * (len(match[0]) - len(match[1])), text)


def separated(text: str) -> list[str]:
    """What commas separate in a typed text; a name or state that holds a comma is quoted.

    Two quotes within quotes are one.

    Examples
    --------
    >>> separated('Age, "income, net", "size"="5"" or more"')
    ['Age', 'income, net', 'size=5" or more']
    """
    commas = [position for position, sign in enumerate(quotes_blanked(text)) if sign == ","]
    ends = zip([0, *(comma + 1 for comma in commas)], [*commas, len(text)], strict=True)
    parts = [text[begin:end].strip() for begin, end in ends]
    return [_QUOTED.sub(lambda match: match[1] + match[2].replace('""', '"'), p) for p in parts]


def typed_list(words: Iterable[str]) -> str:
    """Words as they are typed behind an option that takes several.

    >>> typed_list(["no", "yes, a lot"])
    'no,"yes, a lot"'
    """
    return ",".join(
        word if word == word.strip() and not set(word) & set(',|"()') else in_quotes(word)
        for word in words
    )


def keyed(name: str, sign: str) -> str:
    """A name as it is typed before a sign: in quotes if it holds the sign.

    >>> keyed("Age", "="), keyed("Sex=m", "=")
    ('Age', '"Sex=m"')
    """
    is_plain = sign not in name and not name.startswith('"')
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def key_and_rest(text: str, sign: str) -> tuple[str, str]:
    """What is typed before a sign, a name in quotes or not, and behind it; no name without it.

    >>> key_and_rest('"Sex=m"=no,yes', "="), key_and_rest("Age", "=")
    (('Sex=m', 'no,yes'), ('', 'Age'))
    """
    quoted = re.match(rf'\s*"((?:[^"]|"")*)"\s*{sign}', text)
    if quoted:
        return quoted[1].replace('""', '"'), text[quoted.end() :]
    name, separator, rest = text.partition(sign)
    return (name, rest) if separator else ("", text)


def in_shell(text: str) -> str:
    """A text as a shell takes it for one word.

    Examples
    --------
    >>> print(in_shell("Smoke=7,9"), in_shell("Education=Don't Know"))
    Smoke=7,9 "Education=Don't Know"
    """
    if all(char.isalnum() or char in "-_=,.:+@%/" for char in text):
        return text
    if not any(char in '"$`\\!' for char in text):
        return in_quotes(text)
    return shlex.quote(text)


def flag(option: str) -> str:
    """The option of the command line for an argument in Python.

    >>> flag("not_asked")
    '--not-asked'
    """
    return f"--{option.replace('_', '-')}"


def assigned(name: object, state: object) -> str:
    """``X=x``; a comparison, or an interval that begins with one, stands without a second sign.

    One of several states is ``X in {x, y}``, and likelihoods are ``X ~ {x: 0.8, y: 0.2}``.

    >>> assigned("Ill", "yes"), assigned("bmi", ">=26.2"), assigned("bmi", "[20,30)")
    ('Ill=yes', 'bmi>=26.2', 'bmi=[20,30)')
    >>> assigned("Age", ["40-59", "60+"]), assigned("Test", {"pos": 0.8, "neg": 0.2})
    ('Age in {40-59, 60+}', 'Test ~ {pos: 0.8, neg: 0.2}')
    """
    if isinstance(state, Mapping):
        weights = (f"{_in_braces(key)}: {weight}" for key, weight in state.items())
        return f"{name} ~ {{{', '.join(weights)}}}"
    if isinstance(state, list | tuple | set | frozenset):
        return f"{name} in {{{', '.join(map(_in_braces, state))}}}"
    text = str(state)
    is_compared = text.startswith(("<", ">=")) or COMPARISON.fullmatch(text)
    return f"{name}{text}" if is_compared else f"{name}={text}"


def _in_braces(state: object) -> str:
    """A state as it is typed among several: in quotes if it holds a sign that has a meaning there.

    >>> _in_braces("40-59"), _in_braces("[40,60)")
    ('40-59', '"[40,60)"')
    """
    text = str(state)
    if _SIGNS_IN_BRACES.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def conditional(left: str, given: Sequence[str] = ()) -> str:
    """The probability of what stands left of the bar.

    >>> conditional("Ill=yes", ["Age=old", "Sex=f"]), conditional("Ill")
    ('P(Ill=yes | Age=old, Sex=f)', 'P(Ill)')
    """
    return f"P({left} | {', '.join(given)})" if given else f"P({left})"


def listed(names: Iterable[object], most: int | None = None) -> str:
    """Names in quotes, the first ``most`` of them.

    Examples
    --------
    >>> listed("ABC"), listed("ABC", most=1)
    ("'A', 'B', 'C'", "'A' and 2 more")
    """
    return first_of(list(map(repr, names)), most)


def differing(first: str, names: Iterable[str], second: str, others: Iterable[str]) -> str:
    """What each of two has and the other has not, a few of them.

    Examples
    --------
    >>> differing("the first", "AB", "the second", "BCD"), differing("one", "A", "two", "AB")
    ("only the first has 'A', only the second has 'C', 'D'", "only two has 'B'")
    """
    here, there = {*names}, {*others}
    sides = [(first, sorted(here - there)), (second, sorted(there - here))]
    return ", ".join(f"only {who} has {listed(extra, most=5)}" for who, extra in sides if extra)


def first_of(words: Sequence[str], most: int | None, separator: str = ", ") -> str:
    """The first ``most`` words, and how many more there are.

    Examples
    --------
    >>> first_of(["Age", "Sex", "Job", "Ill"], 2), first_of(["Age", "Sex", "Job"], 2)
    ('Age, Sex and 2 more', 'Age, Sex, Job')
    """
    more = len(words) - (most or len(words))
    if more > 1:
        return separator.join(words[:most]) + f" and {more} more"
    return separator.join(words)


def sentence(text: str) -> str:
    """A note as a sentence: it begins with a capital letter."""
    return text[:1].upper() + text[1:]


def close_to(name: str, known: Iterable[str]) -> list[str]:
    """The known names that are spelled much like this one, up to three, the closest first.

    The dashes of options do not count, and two letters must nearly be the name. Names of four
    letters and more share seven in ten, unless one begins with the other: a guess that is far is
    worse than none.

    Examples
    --------
    >>> close_to("--of", ["--stop"]), close_to("--on", ["--json"]), close_to("--jsn", ["--json"])
    ([], [], ['--json'])
    >>> close_to("print", ["predict", "drift"]), close_to("yse", ["yes", "no"])
    ([], ['yes'])
    >>> close_to("smoking", ["smoking_status", "walking"])
    ['smoking_status']
    """
    # Comparing long names takes long.
    lower = {other.lower().removeprefix("--")[:60]: other for other in known}
    if not lower:
        return []
    from difflib import get_close_matches

    word = str(name).lower().removeprefix("--")[:60]
    near = get_close_matches(word, lower, cutoff={2: 0.75, 3: 0.65}.get(len(word), 0.7))
    far = get_close_matches(word, lower, cutoff=0.6)
    prefixed = [other for other in far if other.startswith(word) or word.startswith(other)]
    return [lower[other] for other in far if other in near or other in prefixed]


def beginning_with(start: str, known: Iterable[str]) -> list[str]:
    """The known names that begin with these letters, in any case; none if they are more than three.

    Examples
    --------
    >>> beginning_with("POS", ["negative", "positive"]), beginning_with("1", "10 11 12 13".split())
    (['positive'], [])
    """
    lower = start.lower()
    names = [name for name in known if lower and name.lower().startswith(lower)]
    return names if len(names) <= 3 else []


def beginnings_of(word: str, known: Iterable[str]) -> list[str]:
    """The known names, of three letters or more, that a word begins with, in any case.

    Examples
    --------
    >>> beginnings_of("Positive", ["neg", "pos"]), beginnings_of("1000", ["100"])
    (['pos'], [])
    """
    lower = word.lower()
    return [name for name in known if name[2:].isalpha() and lower.startswith(name.lower())]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question that offers the names that are close, or nothing where there are none.

    Examples
    --------
    >>> did_you_mean("age", ["Age", "Sex"]), did_you_mean("age", ["Sex"])
    ("did you mean 'Age'?", '')
    """
    return meaning_question(close_to(name, known))


def meaning_question(names: Iterable[str]) -> str:
    """Whether one of these names was meant; nothing where there are none."""
    words = " or ".join(map(repr, names))
    return f"did you mean {words}?" if words else ""


def apart_from(value: float, other: float) -> str:
    """A number with six digits, or as many more as it takes to tell it from another.

    Examples
    --------
    >>> apart_from(1.2999999999999998, 1), apart_from(1.000000001, 1)
    ('1.3', '1.000000001')
    """
    texts = (f"{value:.{digits}g}" for digits in (6, 9, 12))
    return next((text for text in texts if float(text) != other), repr(value))


def near_files(path: str) -> str:
    """A question that offers files of the same folder that are spelled alike, or nothing.

    They are alike without their endings too: all names that end with .csv share much.
    """
    import os

    folder, name = os.path.split(path)
    try:
        known = os.listdir(folder or os.curdir)
    except (OSError, ValueError):  # a null byte in the name is a ValueError
        return ""
    stem = name.partition(".")[0]
    alike = [file for file in close_to(name, known) if close_to(stem, [file.partition(".")[0]])]
    return meaning_question(os.path.join(folder, file) for file in alike)


def read_formula(formula: str) -> str:
    """A formula to be read by people, in words where both of its sides are the same.

    Examples
    --------
    >>> read_formula("P(A) = P(A)"), read_formula("P(A) = P(A | R[A]=1)")
    ('P(A), read off directly', 'P(A) = P(A | R[A]=1)')
    """
    left, _, right = formula.partition(" = ")
    return f"{left}, read off directly" if right and left == right else formula


def finite_number(value: object) -> float | None:
    """A number that is neither infinite nor NaN; nothing for anything else.

    >>> finite_number("0.5"), finite_number(2), finite_number(float("inf")), finite_number("x")
    (0.5, 2.0, None, None)
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def finite(value: Any) -> Any:
    """The same lists and dictionaries with None for NaN and a text for infinity.

    Examples
    --------
    >>> finite({"a": [1.0, float("nan")], "b": float("-inf")})
    {'a': [1.0, None], 'b': '-inf'}
    """
    if isinstance(value, Mapping):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
