"""What a network refuses to be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lacunet.errors import LacunetError


class NetworkError(LacunetError):
    """The variables, edges or CPTs given do not make a Bayesian network."""

    @classmethod
    def empty(cls) -> NetworkError:
        return cls("a network needs at least one variable.")

    @classmethod
    def duplicate_states(cls, variable: str, states: Iterable[str]) -> NetworkError:
        return cls(f"variable {variable!r} has the states {sorted(states)} more than once.")

    @classmethod
    def no_states(cls, variable: str) -> NetworkError:
        return cls(f"variable {variable!r} has no states.")

    @classmethod
    def not_text(cls, what: str, value: object) -> NetworkError:
        return cls(f"{what} must be a non-empty text, not {value!r}.")

    @classmethod
    def unknown_parents(cls, variable: str, parents: Iterable[str]) -> NetworkError:
        return cls(f"variable {variable!r} has parents that are no variables: {sorted(parents)}.")

    @classmethod
    def duplicate_parents(cls, variable: str, parents: Iterable[str]) -> NetworkError:
        return cls(f"variable {variable!r} names a parent more than once: {sorted(parents)}.")

    @classmethod
    def parents_of_nobody(cls, variables: Iterable[str]) -> NetworkError:
        return cls(f"parents are given for {sorted(variables)}, which are no variables.")

    @classmethod
    def cycle(cls, variables: Sequence[str]) -> NetworkError:
        path = " -> ".join(repr(name) for name in [*variables, variables[0]])
        return cls(f"the edges form a cycle: {path}.")

    @classmethod
    def cpts_missing(cls, variables: Iterable[str]) -> NetworkError:
        return cls(
            f"CPTs are missing for {sorted(variables)}.\n"
            "Hint: give a CPT for every variable, or none at all."
        )

    @classmethod
    def cpts_of_nobody(cls, variables: Iterable[str]) -> NetworkError:
        return cls(f"CPTs are given for {sorted(variables)}, which are no variables.")

    @classmethod
    def shape(cls, variable: str, expected: Sequence[int], found: Sequence[int]) -> NetworkError:
        return cls(
            f"the CPT of {variable!r} has the shape {tuple(found)}, but its parents and "
            f"states need {tuple(expected)} (one axis a parent, the variable's own states last)."
        )

    @classmethod
    def not_a_probability(cls, variable: str, value: float, where: str) -> NetworkError:
        return cls(f"the CPT of {variable!r} holds {value!r}{where}, which is no probability.")

    @classmethod
    def row_sum(cls, variable: str, total: float, where: str) -> NetworkError:
        return cls(
            f"the CPT of {variable!r}{where} sums to {total!r}, not to 1.\nHint: rescale the row."
        )

    @classmethod
    def no_such_variable(cls, variable: str, known: Iterable[str]) -> NetworkError:
        from difflib import get_close_matches

        close = get_close_matches(variable, list(known), 3)
        hint = f"\nHint: did you mean {' or '.join(map(repr, close))}?" if close else ""
        return cls(f"the network has no variable {variable!r}.{hint}")

    @classmethod
    def no_such_state(cls, variable: str, state: str, states: Iterable[str]) -> NetworkError:
        return cls(f"variable {variable!r} has no state {state!r}, only {list(states)}.")

    @classmethod
    def without_cpts(cls, variable: str) -> NetworkError:
        return cls(
            f"the network has no CPT for {variable!r}: it was given without parameters.\n"
            "Hint: learn them from data with lacunet.learn(network, data)."
        )
