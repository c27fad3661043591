"""Hints for what Python itself refuses: a name or a keyword that is guessed and is not there.

There is one name for one thing, and other libraries have other names for it. Whoever tries such a
name is told ours, behind the words of Python: an error stays an AttributeError or a TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

from lacunet.errors import LacunetError, warn
from lacunet.wording import did_you_mean, first_of

Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")

# What other libraries call an argument, and our names, of which a function has one at most.
KEYWORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("seed", "random_state", "random_seed", "generator"), ("rng",)),
    **dict.fromkeys(("weights", "sample_weight", "sampling_weights"), ("weight",)),
    **dict.fromkeys(("frequencies", "count"), ("counts",)),
    **dict.fromkeys(("stratum", "stratify"), ("strata",)),
    **dict.fromkeys(("clusters", "psu"), ("cluster",)),
    **dict.fromkeys(("intervals", "confidence", "ci", "level"), ("interval", "intervals")),
    **dict.fromkeys(("given", "condition", "observed"), ("evidence", "given")),
    "evidence": ("given",),
    **dict.fromkeys(("variable", "variables", "query", "outcome"), ("target", "targets")),
    **dict.fromkeys(("treatment", "intervention", "cause"), ("do",)),
    **dict.fromkeys(("n", "size", "n_samples", "num_samples"), ("rows", "draws")),
    **dict.fromkeys(("m", "imputations", "n_imputations", "multiple"), ("draws",)),
    **dict.fromkeys(("df", "frame", "table"), ("data", "frame")),
    **dict.fromkeys(("graph", "mgraph", "mechanisms", "missing_graph"), ("missingness",)),
    **dict.fromkeys(("blacklist", "forbid", "black_list"), ("forbidden",)),
    **dict.fromkeys(("whitelist", "require", "fixed", "white_list"), ("required",)),
    **dict.fromkeys(("timeout", "max_time", "time"), ("time_limit",)),
    **dict.fromkeys(("max_memory", "memory_limit"), ("memory",)),
    **dict.fromkeys(("na_values", "missing_values"), ("missing",)),
    **dict.fromkeys(("sep", "separator"), ("delimiter",)),
    **dict.fromkeys(("verbose", "show_progress"), ("progress",)),
    **dict.fromkeys(("max_iter", "iterations", "n_iter", "maxit"), ("max_iterations",)),
    **dict.fromkeys(("tol", "epsilon"), ("tolerance",)),
    **dict.fromkeys(("n_init", "n_starts", "starts"), ("restarts",)),
    **dict.fromkeys(("pseudo_counts", "equivalent_sample_size", "ess", "alpha"), ("prior",)),
    **dict.fromkeys(("bootstrap", "replicates", "n_bootstrap", "boot"), ("strengths",)),
    "edges": ("required",),
}

# What other libraries call a function or a class, and what to write.
NAMES: Mapping[str, str] = {
    **dict.fromkeys(("fit", "estimate", "train", "bn_fit"), "lacunet.learn(network, data)"),
    "em": 'lacunet.learn(network, data, "em")',
    "bootstrap": "lacunet.learn(network, data, intervals=True): intervals need no bootstrap",
    "ate": 'lacunet.effect(result, "Outcome", do="Treatment")',
    **dict.fromkeys(
        ("read", "load", "open"),
        'lacunet.read_network("net.bif"), or lacunet.read_result("result.json") with intervals',
    ),
    **dict.fromkeys(
        ("load_network", "read_bif", "read_xdsl", "read_net", "read_uai"),
        'lacunet.read_network("net.bif"): the ending says the format',
    ),
    "load_result": 'lacunet.read_result("result.json")',
    **dict.fromkeys(
        ("write", "save_network", "write_bif", "write_xdsl", "write_net", "write_uai"),
        'lacunet.write_network(network, "net.bif"): the ending says the format',
    ),
    **dict.fromkeys(
        ("networks", "examples", "load_example", "list_networks", "example_network"),
        'lacunet.example("asia"); `lacunet networks` lists them',
    ),
    **dict.fromkeys(
        ("BayesianNetwork", "DiscreteBayesianNetwork", "BayesNet", "BN", "Model", "DAG"),
        'lacunet.Network, or lacunet.Network.from_data(data, "A -> B; B -> C")',
    ),
    **dict.fromkeys(("from_data", "network"), 'lacunet.Network.from_data(data, "A -> B; B -> C")'),
    **dict.fromkeys(
        ("infer", "inference", "ask", "posterior", "probability"),
        'lacunet.query(network, "X", {"Y": "y"})',
    ),
    **dict.fromkeys(("structure", "hc", "learn_dag"), "lacunet.learn_structure(data)"),
    **dict.fromkeys(
        ("recover", "identify", "recoverable"),
        "graph = lacunet.MissingnessGraph.parse('Age -> R[Income]', 'Age -> Income', data=data), "
        "then verdict = graph.recover('P(Income)'), or graph.recover() for all CPTs, then "
        "verdict.estimate(data, interval=True)",
    ),
    **dict.fromkeys(("merge", "merge_counts"), "statistics + statistics: lacunet.count gives them"),
    **dict.fromkeys(("ampute", "mask"), "lacunet.hide(network, frame, lacunet.MCAR())"),
    **dict.fromkeys(("generate", "rbn"), "lacunet.simulate(network, rows)"),
    "save": 'result.write("result.json"), or lacunet.write_network(network, "net.bif")',
    "plots": "import lacunet.plots first",
    "plot": 'result.report("page.html"), or lacunet.plots.network_figure(result)',
    "sklearn": "import lacunet.sklearn first",
    **dict.fromkeys(
        ("Classifier", "BayesianNetworkClassifier", "BayesNetClassifier"),
        "from lacunet.sklearn import BayesianNetworkClassifier",
    ),
    **dict.fromkeys(
        ("Imputer", "BayesianNetworkImputer"), "from lacunet.sklearn import BayesianNetworkImputer"
    ),
    **dict.fromkeys(
        ("mcar_test", "little_test", "littles_test", "test_mcar", "md_pattern"),
        "lacunet.diagnose(data).mcar (tests of MCAR), .mar, .patterns",
    ),
    **dict.fromkeys(
        ("read_csv", "read_table", "read_parquet", "read_data", "load_csv", "load_data"),
        'the path itself in place of the data: lacunet.learn(network, "rows.csv")',
    ),
    **dict.fromkeys(
        ("evaluate", "score", "loglik"),
        "lacunet.log_likelihood(result, data), or lacunet.kl_divergence(truth, result)",
    ),
    **dict.fromkeys(
        ("bic", "BIC"),
        "lacunet.log_likelihood(result, data) - math.log(result.total) / 2 * "
        "result.network.free_parameters, the BIC of results of learn(..., 'em', prior=1)",
    ),
    **dict.fromkeys(("mice", "complete"), "lacunet.impute(network, data, draws=5)"),
    **dict.fromkeys(
        ("compare", "compare_methods", "benchmark"),
        "`lacunet compare NETWORK DATA` in a shell, which ranks methods; "
        "lacunet.compare_structures(truth, found) compares structures",
    ),
    **dict.fromkeys(
        ("value_of_information", "voi", "mutual_information", "information_gain"),
        'lacunet.query(result, "X", {"Y": "y"}) for each state y of Y, weighed by '
        'lacunet.query(result, "Y"): no function says what it is worth to observe Y',
    ),
}

# What our names are of, where that is not plain from the guess.
REMARKS: Mapping[str, str] = {
    "strengths": "the number of bootstrap replicates, 20 by default",
    "required": "edges that must be there; learn(edges, data) learns the CPTs of known edges",
}


def remark(name: str) -> str:
    """What our name is of, to be put behind an offer of it; nothing for most."""
    return f" ({REMARKS[name]})" if name in REMARKS else ""


def meant(keyword: str, known: Iterable[str]) -> str:
    """A question that offers the keyword that was probably meant, or nothing.

    Examples
    --------
    >>> meant("seed", ["data", "rng"]), meant("evidense", ["evidence"]), meant("x", ["rng"])
    ("did you mean 'rng'?", "did you mean 'evidence'?", '')
    """
    names = list(known)
    ours = [name for name in KEYWORDS.get(keyword, ()) if name in names]
    if ours:
        return f"did you mean {ours[0]!r}?{remark(ours[0])}"
    return did_you_mean(keyword, names)


def with_hints(function: Function) -> Function:
    r"""The function itself; a call that does not fit its arguments is told what it takes.

    Of a class it is the call that makes one.

    Examples
    --------
    >>> @with_hints
    ... def draw(rows, *, rng=0):
    ...     return rows
    >>> try:
    ...     draw(3, seed=1)
    ... except TypeError as error:
    ...     print(error)
    draw() got an unexpected keyword argument 'seed'
    Hint: did you mean 'rng'?
    """
    if isinstance(function, type):
        function.__init__ = with_hints(function.__init__)  # type: ignore[misc]
        return function
    return with_hints_by(lambda _args, _named: "")(function)


def with_hints_by(
    guess: Callable[[Sequence[Any], Mapping[str, Any]], str],
) -> Callable[[Function], Function]:
    """As `with_hints`; ``guess`` says of the arguments given what to write instead, or nothing."""

    def decorated(function: Function) -> Function:
        @wraps(function)
        def called(*args: Any, **named: Any) -> Any:
            try:
                return function(*args, **named)
            except TypeError as error:
                has_begun = error.__traceback__ is None or error.__traceback__.tb_next is not None
                if not has_begun:
                    hint = guess(args, named) or _taken(function, named)
                    error.args = (f"{error}\nHint: {hint}",)
                raise

        return called  # type: ignore[return-value]

    return decorated


def by_name(*names: str) -> Callable[[Function], Function]:
    """Arguments that used to be taken by place as well; in this version they still are, noted.

    Examples
    --------
    >>> import warnings
    >>> @by_name("rng")
    ... def draw(rows, *, rng=0):
    ...     return rows, rng
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     draw(3, 7)
    (3, 7)
    """

    def decorated(function: Function) -> Function:
        known = signature(function).parameters.values()
        places = sum(arg.kind is arg.POSITIONAL_OR_KEYWORD for arg in known)

        @wraps(function)
        def called(*args: Any, **named: Any) -> Any:
            moved = dict(zip(names, args[places:], strict=False))
            if not moved or len(args) > places + len(moved):
                return function(*args, **named)
            words = ", ".join(f"{name}=..." for name in moved)
            warn(f"{function.__name__} takes these by name: write {words}")
            return function(*args[:places], **moved, **named)

        return called  # type: ignore[return-value]

    return decorated


def _taken(function: Callable[..., Any], named: Iterable[str]) -> str:
    """What was probably meant, or all that the function takes."""
    known = signature(function).parameters
    unknown = [name for name in named if name not in known]
    is_one = len(unknown) == 1
    offers = [
        offer if is_one else f"{name!r}: {offer}"
        for name in unknown
        if (offer := meant(name, known))
    ]
    if unknown and len(offers) == len(unknown):
        return " ".join(offers)
    arguments = [
        arg
        for arg in known.values()
        if arg.name not in ("self", "cls") and arg.kind is not arg.VAR_KEYWORD
    ]
    needed = ", ".join(arg.name for arg in arguments if arg.default is arg.empty)
    more = ", ".join(arg.name for arg in arguments if arg.default is not arg.empty)
    parts = [f"it takes {needed or 'nothing'}"] * (bool(needed) or not more)
    parts += [f"optional: {more}"] * bool(more)
    taken = f"{'; '.join(parts)}."
    return " ".join([*offers, taken])


class Hinted(type):
    """The class of a class that answers names that are guessed of it by its ``_INSTEAD``.

    Examples
    --------
    >>> class Box(metaclass=Hinted):
    ...     _INSTEAD = {"load": "Box.read(path)"}
    >>> Box.load
    Traceback (most recent call last):
    AttributeError: type object 'Box' has no attribute 'load'
    Hint: write Box.read(path).
    """

    if not TYPE_CHECKING:  # type checkers know the names there are

        def __getattr__(cls, name: str) -> object:
            instead = {} if name == "_INSTEAD" else cls._INSTEAD
            raise no_attribute(f"type object {cls.__name__!r}", name, dir(cls), instead)


class NoSuchNameError(LacunetError, KeyError):
    """A mapping does not have this name."""


class ByName(dict[str, Value]):
    """A mapping that answers a name it does not have with those that are close, or all.

    Examples
    --------
    >>> ByName({"Age": 1, "Ill": 2})["age"]
    Traceback (most recent call last):
    lacunet.hints.NoSuchNameError: there is no 'age'.
    Hint: did you mean 'Age'?
    """

    def __missing__(self, name: str) -> Value:
        hint = did_you_mean(str(name), self) or f"there are {first_of([*self], 10)}."
        raise NoSuchNameError(f"there is no {name!r}.", hint)


def no_attribute(
    of: str, name: str, known: Iterable[str], instead: Mapping[str, str]
) -> AttributeError:
    """What Python would raise, with the way to what was probably meant.

    Examples
    --------
    >>> print(no_attribute("'Result' object", "states", [], {"states": "result.network.states"}))
    'Result' object has no attribute 'states'
    Hint: write result.network.states.
    """
    way = f"write {instead[name]}." if name in instead else ""
    hint = way or ("" if name.startswith("_") else did_you_mean(name, known))
    return AttributeError(
        f"{of} has no attribute {name!r}" + (f"\nHint: {hint}" if hint else ""), name=name
    )
