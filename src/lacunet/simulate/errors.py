"""What cannot be simulated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lacunet.errors import LacunetError


class SimulationError(LacunetError):
    """The data asked for cannot be made."""

    @classmethod
    def negative_rows(cls, rows: int) -> SimulationError:
        return cls(f"the number of rows must be zero or more, not {rows}.")

    @classmethod
    def not_a_share(cls, what: str, value: float) -> SimulationError:
        return cls(f"{what} must lie between 0 and 1, not {value!r}.")

    @classmethod
    def not_positive(cls, what: str, value: float) -> SimulationError:
        return cls(f"{what} must be above zero, not {value!r}.")

    @classmethod
    def below(cls, what: str, least: int, value: int) -> SimulationError:
        return cls(f"{what} must be at least {least}, not {value}.")

    @classmethod
    def too_few_observed(cls, wanted: int, observed: int, hidden: int) -> SimulationError:
        return cls(
            f"{wanted} fully observed variables are asked for, but with {hidden} variables "
            f"partially observed only {observed} are left.\n"
            "Hint: lower the share of the variables that go missing, or the number of parents."
        )

    @classmethod
    def parents_outside_separator(cls, parents: int, size: int) -> SimulationError:
        return cls(
            f"each mechanism needs {parents} parents, but they come from {size} variables only.\n"
            "Hint: choose at least as many variables as a mechanism has parents."
        )

    @classmethod
    def table_shape(
        cls, variable: str, parents: Sequence[str], expected: Sequence[int], found: Sequence[int]
    ) -> SimulationError:
        return cls(
            f"the table of R[{variable}] has the shape {tuple(found)}, but its parents "
            f"{list(parents)} need {tuple(expected)} (one axis a parent, each cell the "
            f"probability that {variable!r} is missing)."
        )

    @classmethod
    def table_value(cls, variable: str, value: float) -> SimulationError:
        return cls(f"the table of R[{variable}] holds {value!r}, which is no probability.")

    @classmethod
    def tables_of_nobody(cls, variables: Iterable[str]) -> SimulationError:
        return cls(f"tables are given for {sorted(variables)}, which have no mechanism.")

    @classmethod
    def variables_share_a_cause(cls, one: str, other: str) -> SimulationError:
        return cls(
            f"the missingness graph has {one!r} <-> {other!r}, but the network already says "
            "how its variables depend on each other.\n"
            "Hint: add the common cause to the network as a variable of its own."
        )

    @classmethod
    def no_cpts_to_share_a_cause(cls, variable: str) -> SimulationError:
        return cls(
            f"a hidden cause of {variable!r} can be simulated only where the network has CPTs.\n"
            "Hint: learn them first, or use a graph without '<->' edges at variables."
        )

    @classmethod
    def already_incomplete(cls, variables: Iterable[str]) -> SimulationError:
        return cls(
            f"the mechanisms look at {sorted(variables)}, which the table does not show in "
            "every row.\nHint: hide values of a complete table."
        )
