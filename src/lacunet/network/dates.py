"""Days, and the years, quarters and months that hold them.

A date whose own text is not a state stands for the month, the quarter or the year that is one:
``2024-07-15`` for ``2024-07``, ``2024Q3`` or ``2024``. So the states alone say how dates are read,
in files of every format.

>>> periods_of("2024-07-15 13:45:00")
{'year': '2024', 'quarter': '2024Q3', 'month': '2024-07'}
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta

UNITS = ("year", "quarter", "month")
EPOCH = date(1970, 1, 1)
MICROSECONDS = 86_400 * 10**6  # of a day
MOST_PERIODS = 12  # of a column whose dates are not said to go by longer ones
DAY = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[ T]\d\d:\d\d.*)?", re.ASCII)


def periods_of(text: str) -> dict[str, str] | None:
    """The year, quarter and month of a day or moment in ISO's form; None of any other text.

    >>> periods_of("2024-07"), periods_of("15/07/2024")
    (None, None)
    """
    day = DAY.fullmatch(text) if text[4:5] == "-" else None
    if day is None:
        return None
    year, month = day.groups()
    return {
        "year": year,
        "quarter": f"{year}Q{(int(month) + 2) // 3}",
        "month": f"{year}-{month}",
    }


def is_period(text: str, unit: str) -> bool:
    """Whether a text is a year, a quarter or a month, as a unit has them.

    >>> is_period("2024Q3", "quarter"), is_period("2024", "quarter")
    (True, False)
    """
    form = {"year": r"\d{4}", "quarter": r"\d{4}Q[1-4]", "month": r"\d{4}-(?:0[1-9]|1[0-2])"}[unit]
    return re.fullmatch(form, text, re.ASCII) is not None


PERIOD = re.compile(r"(\d{4})(?:Q([1-4])|-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?", re.ASCII)


def ends_of(period: str) -> tuple[date, date] | None:
    """The first day of a year, quarter, month or day, and that of the next; None of other texts.

    >>> print(*ends_of("2024Q3"))
    2024-07-01 2024-10-01
    >>> ends_of("July"), ends_of("2024-02-30")
    (None, None)
    """
    match = PERIOD.fullmatch(period)
    if match is None:
        return None
    year, quarter, month, day = match.groups()
    first = 3 * int(quarter) - 2 if quarter else int(month or 1)
    months = 3 if quarter else 1 if month else 12
    behind = 12 * int(year) + first - 1 + months  # months since the year 0
    try:
        begin = date(int(year), first, int(day or 1))
        if day is not None:
            return begin, begin + timedelta(days=1)
        return begin, date(behind // 12, behind % 12 + 1, 1)
    except (ValueError, OverflowError):  # a day that no month has, or years that no calendar has
        return None


def unit_of(states: Sequence[str]) -> str | None:
    """Whether all states are years, quarters or months; None of others.

    >>> unit_of(["2024Q3", "2024Q4"]), unit_of(["2024Q3", "later"])
    ('quarter', None)
    """
    fitting = (unit for unit in UNITS if all(is_period(state, unit) for state in states))
    return next(fitting, None) if states else None


def is_period_of_any_unit(texts: Collection[str]) -> bool:
    """Whether there are texts, and all of them are years, or quarters, or months.

    >>> is_period_of_any_unit(["2024Q3", "2024Q4"]), is_period_of_any_unit(["2024Q3", "2025"])
    (True, False)
    """
    return bool(texts) and any(all(is_period(text, unit) for text in texts) for unit in UNITS)


def usual_unit(months: Collection[str]) -> str:
    """The shortest unit of which these months take few, or years.

    >>> usual_unit(["2024-07", "2024-08"]), usual_unit([f"20{year}-01" for year in range(10, 30)])
    ('month', 'year')
    """
    for unit in ("month", "quarter"):
        if len(periods(months, unit)) <= MOST_PERIODS:
            return unit
    return "year"


def periods(months: Collection[str], unit: str) -> tuple[str, ...]:
    """The years, quarters or months that hold some months, in order.

    >>> periods(["2024-07", "2023-12", "2024-08"], "quarter")
    ('2023Q4', '2024Q3')
    """
    days = (periods_of(f"{month}-01") for month in months)
    return tuple(sorted({day[unit] for day in days if day is not None}))


def day_number(value: object) -> float:
    """The days since 1970 of a date or a moment, also in text; NaN of all else.

    >>> day_number("1970-01-03 12:00"), day_number("1970-01")
    (2.5, nan)
    """
    if isinstance(value, str):
        try:
            text = value.strip()
            value = datetime.fromisoformat(text) if periods_of(text) else None
        except ValueError:
            return math.nan
        if value is not None and value.tzinfo is not None:  # an offset that days do not have
            return math.nan
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        since = value - datetime.combine(EPOCH, time())
        return since.days + (since.seconds * 10**6 + since.microseconds) / MICROSECONDS
    return float(value.toordinal() - EPOCH.toordinal()) if isinstance(value, date) else math.nan


def moment_of(day: float) -> datetime:
    """The moment of a number of days since 1970.

    >>> str(moment_of(2.5))
    '1970-01-03 12:00:00'
    """
    return datetime.combine(EPOCH, time()) + timedelta(microseconds=round(day * MICROSECONDS))
