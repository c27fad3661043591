"""What cannot be learned, or not in the way asked for."""

from __future__ import annotations

from collections.abc import Iterable
from math import isinf

from lacunet.errors import LacunetError
from lacunet.wording import counted

SHOWN = 20


class MethodError(LacunetError):
    """The method, its options and the data do not go together."""

    @classmethod
    def unknown(cls, name: str, known: Iterable[str]) -> MethodError:
        return cls(f"there is no method {name!r}.\nHint: choose one of {', '.join(known)}.")

    @classmethod
    def option(cls, method: str, option: str, known: Iterable[str]) -> MethodError:
        takes = ", ".join(known) or "no options"
        return cls(f"method {method!r} takes no {option!r}; it takes {takes}.")

    @classmethod
    def not_a_network(cls, value: object) -> MethodError:
        return cls(
            f"the network is {type(value).__name__}, not a lacunet.Network.\n"
            "Hint: read it with lacunet.read_network(path)."
        )

    @classmethod
    def not_a_method(cls, value: object) -> MethodError:
        return cls(f"method is {value!r}, but must be a method's name or a method.")

    @classmethod
    def option_beside_a_method(cls, option: str) -> MethodError:
        return cls(
            f"{option}= goes with a method's name; a method that is given as a value has its own.\n"
            f"Hint: give {option} to the method."
        )

    @classmethod
    def twice(cls, variable: str) -> MethodError:
        return cls(f"the query names {variable!r} more than once.")

    @classmethod
    def choice(cls, option: str, value: object, known: Iterable[str]) -> MethodError:
        return cls(f"{option} is {value!r}, but must be one of {', '.join(known)}.")

    @classmethod
    def prior(cls, value: object) -> MethodError:
        return cls(
            f"prior is {value!r}, but the Dirichlet concentration must be a number of at least 1 "
            "(1: maximum likelihood, 2: one pseudo-count a cell)."
        )

    @classmethod
    def not_a_closed_form(cls, method: str) -> MethodError:
        return cls(
            f"method {method!r} has no estimand to write down.\n"
            "Hint: choose a closed form, such as direct-mar or factored-mar."
        )

    @classmethod
    def query(cls, item: str, variables: Iterable[str]) -> MethodError:
        return cls(
            f"the query {item!r} is not of the form VARIABLE=STATE,... with variables of the "
            f"network: {', '.join(list(variables)[:SHOWN])}."
        )

    @classmethod
    def rows_without_query(cls) -> MethodError:
        return cls('--rows lists the rows of a query.\nHint: give one, as in --query "X=1,W=1".')

    @classmethod
    def query_without_data(cls) -> MethodError:
        return cls("a query is explained on data, and none are given.\nHint: name a data file.")

    @classmethod
    def no_separator(cls, method: str) -> MethodError:
        return cls(
            f"method {method!r} needs to know what separates the missing values from their "
            "mechanisms.\nHint: name the variables with separator=[...] (--separator A,B), or give "
            "a missingness graph (--missingness FILE)."
        )

    @classmethod
    def separator_not_learned(cls) -> MethodError:
        return cls(
            "a separator cannot be learned from the data yet.\n"
            "Hint: name its variables, or give a missingness graph."
        )

    @classmethod
    def no_graph(cls) -> MethodError:
        return cls(
            "method 'mgraph' needs a missingness graph.\n"
            "Hint: give one with missingness=MissingnessGraph.read(...) (--missingness FILE)."
        )

    @classmethod
    def not_a_graph(cls, value: object) -> MethodError:
        return cls(
            f"missingness is {value!r}, not a lacunet.MissingnessGraph.\n"
            "Hint: make one with MissingnessGraph.read(path, network) or .parse(text, network)."
        )

    @classmethod
    def separator_and_graph(cls) -> MethodError:
        return cls(
            "both a separator and a missingness graph are given, and the graph chooses its own "
            "separator.\nHint: give one of the two."
        )

    @classmethod
    def separator_not_observed(cls, variable: str, missing: int) -> MethodError:
        return cls(
            f"the separator holds {variable!r}, which is missing in {counted(missing, 'row')}.\n"
            "Hint: a separator may hold only variables that are never missing."
        )

    @classmethod
    def out_of_range(cls, option: str, value: float, least: float, most: float) -> MethodError:
        bounds = f"at least {least:g}" if isinf(most) else f"from {least:g} to {most:g}"
        return cls(f"{option} is {value!r}, but must be {bounds}.")

    @classmethod
    def too_few_rows(cls, rows: int) -> MethodError:
        return cls(
            f"{rows} rows are too few to put any aside.\n"
            'Hint: choose stop="converge" or a number of steps.'
        )

    @classmethod
    def seed_of_another_structure(cls) -> MethodError:
        return cls(
            "the seed network has other variables, states or parents than the one to learn.\n"
            "Hint: a seed gives CPTs only; its structure must be the same."
        )
