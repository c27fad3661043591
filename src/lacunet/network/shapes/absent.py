"""Which state of a variable says that there is nothing: found by its word, not its position."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lacunet.network.errors import NetworkError
from lacunet.network.waves import in_time
from lacunet.text import did_you_mean, listed

WORDS_FOR_ABSENT = ("no", "false", "absent", "0", "none", "normal", "negative", "off")

Absent = Mapping[str, str]


def check_absent(name: str, absent: object) -> None:
    """Refuse what is no mapping from variables to states."""
    if not isinstance(absent, Mapping):
        raise NetworkError(
            f"absent={absent!r} does not say which state of which variable means 'absent'.",
            f'give a mapping, such as lc.{name}(absent={{"Flu": "low"}}).',
        )


def check_absent_variables(variable: str, absent: Absent, family: Collection[str]) -> None:
    """Refuse a variable that is not of the family, or of those whose CPT is the same."""
    known = {*family, *(in_time(name).name for name in family)}
    strange = [name for name in absent if name not in known]
    if strange:
        raise NetworkError(
            f"the shape of the CPT of {variable!r} says which state of {strange[0]!r} means "
            f"'absent', and {strange[0]!r} is neither the child nor a cause.",
            did_you_mean(strange[0], known) or f"these are {listed(family)}.",
        )


def absent_index(
    name: str, variable: str, states: Sequence[str], absent: Absent, of_child: str
) -> int:
    """The position of the state of a variable that means "absent".

    Parameters
    ----------
    name
        The public name of the shape, for errors.
    absent
        What the user said.
    of_child
        The variable whose CPT has the shape.

    Examples
    --------
    >>> absent_index("NoisyOr", "Flu", ("yes", "no"), {}, "Fever")
    1
    """
    state = absent.get(variable, absent.get(in_time(variable).name))
    if state is not None:
        if state not in states:
            raise NetworkError(
                f"the CPT of {of_child!r}: {variable!r} has no state {state!r} that "
                f"could mean 'absent'; it has {list(states)}."
            )
        return states.index(state)
    places = [
        index for index, state in enumerate(states) if state.strip().lower() in WORDS_FOR_ABSENT
    ]
    if len(places) == 1:
        return places[0]
    why = "none of" if not places else "more than one of"
    raise NetworkError(
        f"the CPT of {of_child!r}: {why} the states {list(states)} of {variable!r} says that it "
        "is absent.",
        f'name it: shapes={{"{of_child}": lc.{name}(absent={{"{variable}": "{states[0]}"}})}}; '
        f"known by themselves are {', '.join(WORDS_FOR_ABSENT)}.",
    )
