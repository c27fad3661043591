"""Hints for what Python itself refuses: a name or a keyword that is guessed and is not there.

There is one name for one thing, and other libraries have other names for it. Whoever tries such a
name is told ours, behind the words of Python: an error stays an AttributeError or a TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from lacunet.errors import LacunetError, warn
from lacunet.wording import did_you_mean, first_of

Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")


def by_guess(guesses_of: Mapping[Value, str]) -> dict[str, Value]:
    """What we have for each name that may be guessed.

    >>> by_guess({"rng": "seed random_state"})
    {'seed': 'rng', 'random_state': 'rng'}
    """
    return {guess: ours for ours, guesses in guesses_of.items() for guess in guesses.split()}


# What other libraries call an argument, by our names, of which a function has one at most.
KEYWORDS = by_guess(
    {
        ("rng",): "seed random_state random_seed generator",
        ("weight",): "weights sample_weight sampling_weights",
        ("counts",): "frequencies count",
        ("strata",): "stratum stratify",
        ("cluster",): "clusters psu",
        ("interval", "intervals"): "intervals confidence ci level",
        ("evidence", "given"): "given condition observed",
        ("given",): "evidence",
        ("target", "targets"): "variable variables query outcome",
        ("do",): "treatment intervention cause",
        ("rows", "draws"): "n size n_samples num_samples",
        ("draws",): "m imputations n_imputations multiple",
        ("data", "frame"): "df frame table",
        ("missingness",): "graph mgraph mechanisms missing_graph",
        ("forbidden",): "blacklist forbid black_list",
        ("required",): "whitelist require fixed white_list edges",
        ("without",): "exclude ignore drop skip discard",
        ("time_limit",): "timeout max_time time",
        ("memory",): "max_memory memory_limit",
        ("missing",): "na_values missing_values na na_codes",
        ("delimiter",): "sep separator",
        ("progress",): "verbose show_progress",
        ("max_iterations",): "max_iter iterations n_iter maxit",
        ("tolerance",): "tol epsilon",
        ("restarts",): "n_init n_starts starts",
        ("prior",): "pseudo_counts equivalent_sample_size ess alpha",
        ("strengths",): "bootstrap replicates n_bootstrap boot",
    }
)

_OF_EM = "with r = lacunet.learn(network, data, 'em', prior=1); the higher, the better"
AIC = f"lacunet.log_likelihood(r, data) - r.network.free_parameters, {_OF_EM}"
BIC = (
    "lacunet.log_likelihood(r, data) - r.network.free_parameters * math.log(r.total) / 2, " + _OF_EM
)

# What other libraries call a function or a class, by what to write.
NAMES = by_guess(
    {
        "lacunet.learn(network, data)": "fit estimate train bn_fit",
        'lacunet.learn(network, data, "em")': "em",
        'lacunet.effect(result, "Outcome", do="Treatment")': "ate",
        'lacunet.read_network("net.bif"), or lacunet.read_result("result.json") with intervals': (
            "read load open load_result"
        ),
        'lacunet.read_network("net.bif"): the ending says the format': (
            "load_network read_bif read_xdsl read_net read_uai"
        ),
        'lacunet.write_network(network, "net.bif"): the ending says the format': (
            "write save_network write_bif write_xdsl write_net write_uai"
        ),
        'lacunet.example("asia"); `lacunet networks` lists them': (
            "networks examples load_example list_networks example_network"
        ),
        'lacunet.Network, or lacunet.Network.from_data(data, "A -> B; B -> C")': (
            "BayesianNetwork DiscreteBayesianNetwork BayesNet BN Model DAG"
        ),
        'lacunet.Network.from_data(data, "A -> B; B -> C")': "from_data network",
        'lacunet.query(network, "X", {"Y": "y"})': "infer inference ask posterior probability",
        "lacunet.learn_structure(data)": "structure hc learn_dag",
        "graph = lacunet.MissingnessGraph.parse('Age -> R[Income]', 'Age -> Income', data=data), "
        "then verdict = graph.recover('P(Income)'), or graph.recover() for all CPTs, then "
        "verdict.estimate(data, interval=True)": "recover identify recoverable",
        "statistics + statistics: lacunet.count gives them": "merge merge_counts",
        'lacunet.Statistics.read("rows.stats")': "read_statistics load_statistics",
        "lacunet.hide(network, frame, lacunet.MCAR())": "ampute mask",
        "lacunet.simulate(network, rows)": "generate rbn",
        'result.write("result.json"), or lacunet.write_network(network, "net.bif")': "save",
        "import lacunet.plots first": "plots",
        'result.report("page.html"), or lacunet.plots.network_figure(result)': "plot",
        "import lacunet.sklearn first": "sklearn",
        "from lacunet.sklearn import BayesianNetworkClassifier": (
            "Classifier BayesianNetworkClassifier BayesNetClassifier"
        ),
        "from lacunet.sklearn import BayesianNetworkImputer": "Imputer BayesianNetworkImputer",
        "lacunet.diagnose(data).mcar (tests of MCAR, one for each pair), .mar, .patterns": (
            "mcar_test little_test littles_test test_mcar md_pattern"
        ),
        'the path itself in place of the data: lacunet.learn(network, "rows.csv")': (
            "read_csv read_table read_parquet read_data load_csv load_data"
        ),
        AIC: "aic AIC",
        BIC: "bic BIC",
        f"lacunet.log_likelihood(result, data); for the BIC, {BIC}": "score",
        "lacunet.log_likelihood(result, data), or lacunet.kl_divergence(truth, result)": (
            "evaluate loglik"
        ),
        "lacunet.log_likelihood(result, rows) for rows held out, or scikit-learn's cross_val_score "
        "with lacunet.sklearn.BayesianNetworkClassifier": "cross_validate cross_val_score",
        "lacunet.impute(network, data, draws=5)": "mice complete",
        "lacunet.impute(network, rows): without draws=, rows get their most probable completion": (
            "most_probable most_probable_explanation mpe map_query map"
        ),
        "`lacunet compare NETWORK DATA` in a shell, which ranks methods; "
        "lacunet.compare_structures(truth, found) compares edges, lacunet.kl_divergence(truth, "
        "learned) probabilities": ("compare compare_methods benchmark compare_networks"),
    }
)

# What our names are of, where that is not plain from the guess.
REMARKS: Mapping[str, str] = {
    "strengths": "the number of bootstrap replicates, 20 by default",
    "intervals": "its level follows it: --intervals 0.9",
    "required": "edges that must be there; learn(edges, data) learns the CPTs of known edges",
}


# What `lacunet.Data` takes; functions that take data have few of them as arguments of their own.
OF_DATA = (
    *("weight", "counts", "strata", "cluster", "replicate_weights"),
    *("missing", "codes", "not_asked", "unknown", "latent", "fully_observed"),
    *("delimiter", "encoding", "decimal", "query", "database"),
)


def way_to_data(option: str) -> str:
    """Where to say how data are read."""
    of_query = option in ("query", "database")
    arguments = "query='select ...', database=..." if of_query else f"data, {option}=..."
    return f"it belongs to the data: give lacunet.Data({arguments}) as the data."


def remark(name: str) -> str:
    """What our name is of, to be put behind an offer of it; nothing for most."""
    return f" ({REMARKS[name]})" if name in REMARKS else ""


def meant(keyword: str, known: Iterable[str]) -> str:
    """A question that offers the keyword that was probably meant, where it belongs, or nothing.

    Examples
    --------
    >>> meant("seed", ["data", "rng"]), meant("evidense", ["evidence"]), meant("x", ["rng"])
    ("did you mean 'rng'?", "did you mean 'evidence'?", '')
    """
    names = list(known)
    guesses = (keyword, *KEYWORDS.get(keyword, ()))
    ours = [name for name in guesses if name in names]
    if ours:
        return f"did you mean {ours[0]!r}?{remark(ours[0])}"
    of_data = [name for name in guesses if name in OF_DATA]
    if of_data and "data" in names:
        return way_to_data(of_data[0])
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
    offer_of = {name: offer for name in unknown if (offer := meant(name, known))}
    offers = [f"{name!r}: {offer}" for name, offer in offer_of.items()]
    if unknown and len(offers) == len(unknown):
        return " ".join(offers if len(unknown) > 1 else offer_of.values())
    taken = [
        arg.name if arg.default is arg.empty else f"{arg.name}=..."
        for arg in known.values()
        if arg.name not in ("self", "cls") and arg.kind is not arg.VAR_KEYWORD
    ]
    return " ".join([*offers, f"it takes {', '.join(taken) or 'nothing'}."])


class Hinted(type):
    """The class of a class that answers names that are guessed of it by its ``_INSTEAD``.

    Examples
    --------
    >>> class Box(metaclass=Hinted):
    ...     _INSTEAD = {"load": "Box.read(path)"}
    >>> Box.load
    Traceback (most recent call last):
    lacunet.hints.NoAttributeError: type object 'Box' has no attribute 'load'
    Hint: write Box.read(path).
    """

    if not TYPE_CHECKING:  # type checkers know the names there are

        def __getattr__(cls, name: str) -> object:
            instead = {} if name == "_INSTEAD" else cls._INSTEAD
            raise NoAttributeError(f"type object {cls.__name__!r}", name, cls, instead)


class WithHints:
    """A value that answers names that are guessed of it by the ``_INSTEAD`` of its class.

    Examples
    --------
    >>> class Box(WithHints):
    ...     _INSTEAD = {"contents": "box.items"}
    >>> Box().contents
    Traceback (most recent call last):
    lacunet.hints.NoAttributeError: 'Box' object has no attribute 'contents'
    Hint: write box.items.
    """

    _INSTEAD: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:  # type checkers know the names there are

        def __getattr__(self, name: str) -> object:
            of = f"{type(self).__name__!r} object"
            raise NoAttributeError(of, name, self, self._INSTEAD)


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


class NoAttributeError(AttributeError):
    """What Python would raise, with the way to what was probably meant.

    The way is looked for when the error is read: ``hasattr`` must not wait for it. ``owner`` is
    the value or the class that has no such name.

    Examples
    --------
    >>> print(NoAttributeError("'Result' object", "states", None, {"states": "result.network"}))
    'Result' object has no attribute 'states'
    Hint: write result.network.
    """

    def __init__(self, of: str, name: str, owner: object, instead: Mapping[str, str]) -> None:
        super().__init__(f"{of} has no attribute {name!r}", name=name)
        self.owner, self.instead = owner, instead

    def __str__(self) -> str:
        guess = self.name or ""
        hint = f"write {self.instead[guess]}." if guess in self.instead else ""
        if not hint and not guess.startswith("_"):
            hint = did_you_mean(guess, [name for name in dir(self.owner) if name[0] != "_"])
        return str(self.args[0]) + (f"\nHint: {hint}" if hint else "")

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)
