"""What the room of missingness refuses, and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lacunet.errors import LacunetError
from lacunet.model.nodes import Mechanism, Node, named, quoted


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


class MissingnessGraphError(LacunetError):
    """What is given is no missingness graph over the network, or does not fit the data."""

    @classmethod
    def unreadable(cls, path: str, error: Exception) -> MissingnessGraphError:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        return cls(f"{path}: the missingness graph cannot be read: {reason}.")

    @classmethod
    def unwritable(cls, path: str, error: OSError) -> MissingnessGraphError:
        return cls(f"{path}: the missingness graph cannot be written: {error.strerror}.")

    @classmethod
    def syntax(
        cls, problem: str, line: int, column: int, text: str, source: str
    ) -> MissingnessGraphError:
        where = f"{source}, line {line}, column {column}"
        return cls(f"{where}: {problem}.\n  {text}\n  {' ' * (column - 1)}^")

    @classmethod
    def unknown_variable(cls, name: str, known: Iterable[str], where: str) -> MissingnessGraphError:
        from difflib import get_close_matches

        close = get_close_matches(name, list(known), 3)
        hint = f"\nHint: did you mean {' or '.join(map(repr, close))}?" if close else ""
        return cls(f"{where}the network has no variable {name!r}.{hint}")

    @classmethod
    def into_variable(cls, cause: Mechanism, effect: str) -> MissingnessGraphError:
        return cls(
            f"{cause} -> {quoted(effect)}: a mechanism cannot cause a variable of the network.\n"
            "Hint: whether a value was recorded does not change the value; if both share a "
            f"cause that is not in the network, write {quoted(effect)} <-> {cause}."
        )

    @classmethod
    def among_variables(cls, cause: str, effect: str) -> MissingnessGraphError:
        return cls(
            f"{quoted(cause)} -> {quoted(effect)}: edges among the variables come from the "
            "network, and it has no such edge.\n"
            f"Hint: if a value of {effect!r} goes missing because of {cause!r}, write "
            f"{quoted(cause)} -> {Mechanism(effect)}."
        )

    @classmethod
    def self_loop(cls, node: Node) -> MissingnessGraphError:
        return cls(f"{named(node)} is joined to itself.")

    @classmethod
    def cycle(cls, nodes: Sequence[Node]) -> MissingnessGraphError:
        path = " -> ".join(named(node) for node in [*nodes, nodes[0]])
        return cls(f"the mechanisms form a cycle: {path}.")

    @classmethod
    def hidden_cause_needs_two(cls, node: object, children: int) -> MissingnessGraphError:
        return cls(
            f"the hidden cause {node!r} has {children} children and may have parents; "
            "one that stands for A <-> B has two children and no parents."
        )

    @classmethod
    def undirected(cls) -> MissingnessGraphError:
        return cls(
            "a missingness graph is directed, and the graph given is not.\n"
            "Hint: use networkx.DiGraph, with a node of kind 'hidden' for a hidden cause."
        )

    @classmethod
    def strange_node(cls, node: object) -> MissingnessGraphError:
        return cls(
            f"the node {node!r} is neither a variable of the network nor a mechanism.\n"
            "Hint: give mechanisms as Mechanism('X') or as the text 'R[X]'."
        )

    @classmethod
    def no_mechanism(cls, variables: Sequence[str]) -> MissingnessGraphError:
        bare = "; ".join(str(Mechanism(name)) for name in variables)
        return cls(
            f"the data have missing values of {_listed(variables)}, but the missingness graph "
            "has no mechanism for them.\n"
            f"Hint: say why they go missing, or add {bare} if nothing causes it."
        )

    @classmethod
    def never_missing(cls, variables: Sequence[str]) -> MissingnessGraphError:
        return cls(
            f"the missingness graph has mechanisms for {_listed(variables)}, but the data show "
            "every value of them.\n"
            "Hint: take the mechanisms out of the graph."
        )

    @classmethod
    def other_network(cls, problem: str) -> MissingnessGraphError:
        return cls(
            f"the missingness graph was made for another network: {problem}.\n"
            "Hint: make it again, with the network that is learned."
        )

    @classmethod
    def bad_query(cls, problem: str) -> MissingnessGraphError:
        return cls(f"the query cannot be asked: {problem}.")


class NotRecoverableError(LacunetError):
    """An estimate is asked for that the missingness graph does not give."""

    @classmethod
    def verdict(cls, query: str, status: str, why: str) -> NotRecoverableError:
        return cls(f"{query} is {status} under this missingness graph: {why}")

    @classmethod
    def too_large(cls, query: str, cells: float) -> NotRecoverableError:
        return cls(
            f"{query} needs a table of {cells:.3g} cells, which is too large.\n"
            "Hint: ask for fewer variables at once."
        )

    @classmethod
    def family(cls, variable: str, status: str, why: str, others: int) -> NotRecoverableError:
        more = f" ({others} more families are not recovered either.)" if others else ""
        return cls(
            f"the CPT of {variable!r} is {status} under this missingness graph: {why}{more}\n"
            "Hint: otherwise='prior' leaves such CPTs at the prior, otherwise='em' (or another "
            "method's name) learns them by that method; both are marked in the result."
        )


class NoRowsError(NotRecoverableError):
    """A query is recoverable, but no row shows what its estimand needs."""

    @classmethod
    def query(cls, query: str, shown: Sequence[str]) -> NoRowsError:
        return cls(
            f"{query} cannot be estimated: no row shows all of {_listed(shown)}, "
            "which its estimand needs together."
        )

    @classmethod
    def parts(cls, query: str, shown: Sequence[str]) -> NoRowsError:
        return cls(
            f"{query} cannot be estimated: its estimand is put together from rows that show "
            f"parts of {_listed(shown)}, and for some part no row does."
        )


class SeparatorError(LacunetError):
    """No set of always observed variables separates a family from its mechanisms."""

    @classmethod
    def none(cls, family: Sequence[str], path: str) -> SeparatorError:
        return cls(
            f"no set of fully observed variables separates the missing values of the family "
            f"{list(family)} from their mechanisms: it is not MAR. An open path is {path}.\n"
            "Hint: method='mgraph' may still recover the family."
        )


class ShadowError(LacunetError):
    """A shadow variable does not identify what self-censoring hides."""

    @classmethod
    def not_a_shadow(cls, shadow: str, variable: str, why: str) -> ShadowError:
        return cls(f"{shadow!r} is no shadow variable for {variable!r}: {why}.")

    @classmethod
    def ill_conditioned(cls, variable: str, where: str, number: float, limit: float) -> ShadowError:
        return cls(
            f"the equations for the missing values of {variable!r}{where} have the condition "
            f"number {number:.3g}, above the limit {limit:.3g}: the data do not tell the states "
            "apart.\nHint: use a shadow variable that depends on it more strongly, or more rows."
        )

    @classmethod
    def no_rows(cls, variable: str, where: str) -> ShadowError:
        return cls(f"no row shows {variable!r} and its shadow variable{where}.")
