"""Numbers and nouns in messages."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(3952, "row"), counted(2, "family", "families")
    ('1 row', '3,952 rows', '2 families')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
