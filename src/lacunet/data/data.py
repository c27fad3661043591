"""Data and how they are read, in one value.

Whatever takes data takes this, and nothing else says how data are read; what is not a `Data` yet
becomes one by `as_data`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lacunet.data.copies_columns import COLUMNS, roles_in_data
from lacunet.data.encode import number_array
from lacunet.data.errors import DataError, WeightError, clipped, short_list
from lacunet.data.select import without_secrets
from lacunet.network.arguments import clear_arguments, hide_parameters
from lacunet.network.dictionary import by_spelling
from lacunet.network.formats.files import as_network
from lacunet.network.network import FloatArray, Network
from lacunet.network.spelling import spelled
from lacunet.text import counted, first_of
from lacunet.text_tables import Displayed, TextTable

Unknown = Literal["error", "missing"]
ReplicateKind = Literal["jackknife", "brr", "fay"]
INNER_OPTIONS = ("classes", "held_panel")  # which `Data` makes of the others


@clear_arguments
@dataclass(frozen=True, eq=False)
class ReplicateWeights:
    """The replicate weights that come with a survey, and how a variance is made of them.

    With the estimate e(r) under the weights of replicate r, and e under the weights themselves,
    the variance is the sum of c(r) (e(r) - e)^2 over the replicates.

    Parameters
    ----------
    columns
        The names of the columns, or a matrix with a row for each row of the data.
    kind
        ``"jackknife"`` (delete one: c(r) is (R - 1) / R for R replicates), ``"brr"`` (1 / R) or
        ``"fay"`` (1 / (R (1 - rho)^2)).
    rho
        Fay's factor, for ``"fay"``.
    factors
        All c(r), as the survey's documentation gives them, in place of a kind.

    Examples
    --------
    >>> ReplicateWeights(["w1", "w2", "w3", "w4"], "fay", rho=0.5).factors.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    columns: Any
    kind: ReplicateKind | None = None
    rho: float | None = None
    factors: Any = None

    def __post_init__(self) -> None:
        names = () if isinstance(self.columns, np.ndarray) else tuple(self.columns)
        are_names = bool(names) and all(isinstance(name, str) for name in names)
        columns: Any
        if are_names:
            _refuse_repeated(names)
            columns = names
            replicates = len(names)
        else:
            columns = _matrix(self.columns)
            replicates = columns.shape[1]
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "factors", self._factors(replicates))

    def _factors(self, replicates: int) -> FloatArray:
        if self.factors is not None:
            factors = number_array(self.factors, "replicate_weights")
            if len(factors) != replicates:
                raise WeightError(
                    f"{len(factors)} factors are given for {replicates} replicates.",
                    "give one for each.",
                )
            return factors
        # Fay's method needs its factor, and the others have none: the formula of 'fay' with a
        # factor of zero is that of 'brr'.
        is_known = self.kind in get_args(ReplicateKind)
        is_complete = (self.kind == "fay") == (self.rho is not None)
        rho = 0.0 if self.rho is None else self.rho
        if not is_known or not is_complete or not 0 <= rho < 1:
            raise WeightError(
                f"the kind of the replicate weights is {self.kind!r}, with rho={self.rho}.",
                "say kind='jackknife' or 'brr', kind='fay' with rho= from 0 and below 1, or give "
                "factors=[...], one for each.",
            )
        if self.kind == "jackknife":
            return np.full(replicates, (replicates - 1) / replicates)
        return np.full(replicates, 1 / (replicates * (1 - rho) ** 2))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that hold the weights, none where they are given as a matrix."""
        return self.columns if isinstance(self.columns, tuple) else ()


def _refuse_repeated(names: Sequence[str]) -> None:
    """Refuse a column of replicate weights that is named twice: it would count twice."""
    for name in names:
        if names.count(name) > 1:
            raise WeightError(
                f"replicate_weights= names the column {name!r} more than once.",
                "name each replicate once.",
            )


def _matrix(weights: ArrayLike) -> FloatArray:
    """Replicate weights that are given as numbers, one column for each replicate."""
    try:
        matrix = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    is_matrix = matrix.ndim == 2 and matrix.shape[1] > 0
    if not is_matrix or not (np.isfinite(matrix) & (matrix >= 0)).all():
        raise WeightError(
            "replicate weights are columns' names, or a matrix of rows x replicates with numbers "
            "from zero upwards, none of them missing."
        )
    return matrix


@clear_arguments
@dataclass(frozen=True, eq=False, repr=False)
class Data(Displayed):
    """Data, and how they are read: what every function that takes data takes.

    Parameters
    ----------
    source
        A path or a list of paths (``.csv .tsv .csv.gz .tsv.gz .parquet .arrow .feather``; also
        patterns and folders of parts, and ``"-"`` for CSV from the standard input); a table of
        pandas, Polars, PyArrow, DuckDB or any other library that Narwhals takes; a Spark data
        frame; a list of Arrow tables; a dict of lists, or of single values for one row; rows that
        lacunet itself has read and encoded before; or other `Data`, to say more of them.
    weight
        Sampling weights: the name of a column, or one number for each row. Only their ratios
        matter. Rows with unequal weights tell less than as many with equal ones: "500 rows, worth
        429 of equal weight", which is (sum of weights)^2 / (sum of squared weights). A pandas
        series, here and below, goes by its index.
    counts
        How many rows each row stands for: a column, or one number for each row.
    squared_weight
        The mean of the squared weights of the rows that each row stands for, in a table that
        `lacunet.count` made of weighted rows: a column, or one number for each row. A table that is
        kept as Arrow or Parquet says by itself which columns hold these, the weights, the counts
        and the design.
    strata, cluster
        The stratum and the cluster that each row was sampled in: a column, or one label for each
        row. The same cluster label in two strata names two clusters.
    replicate_weights
        `ReplicateWeights` that come with the survey.
    missing
        Values that mean "not observed", beside null, NaN, empty cells and ``? * NA N/A n/a NaN nan
        null NULL None . #N/A <NA>``: one value or a list of them, for all columns; or a mapping
        from columns to values, in which the key None stands for all columns. A value given for one
        column is always missing there: ``missing={"Size": 9}``. One given for all columns is not
        missing in a column where the network has it as a state; with edges in place of a network
        it is missing in every column.
    codes
        What values mean, for some columns: ``{"Smokes": {7: None, 1: "yes"}, "Age": {"40+":
        ["40-49", "50+"]}}``: nothing known, a state, one of several states. They come before
        what the network says of the same codes.
    not_asked
        When questions were not asked, as in `Network`: ``{"SmokesNow": "Smoked=no"}``.
    states
        Where edges are given in place of a network, or none: the states of some columns, in order,
        where the data do not show them all, as in ``{"Stage": ["I", "II", "III", "IV"]}``. A
        variable that has no column needs them: it is hidden. A network, a result or the path of one
        gives its states, its cut points and what it says of codes.
    bins
        There, too: how to cut columns of numbers and dates. 5 cuts every column that has more than
        five different numbers into five intervals with equally many rows each. ``"auto"`` does so
        with columns of more than ten different numbers, and lets as many dates go by month, quarter
        or year, the first of these of which there are at most twelve. Or a mapping from columns to
        5, ``"auto"``, ``("width", 5)`` for five equally wide intervals, ``"year"``, ``"quarter"``
        or ``"month"``, or cut points: ``[18, 40, 65]`` makes ``[18,40)`` and ``[40,65]``, so that
        40 is in the second. Numbers outside, such as 70, get a warning when states are found and
        are refused in learning; ``float("inf")`` opens an end. The key None stands for all other
        columns: ``{None: 5, "Visit": "month"}``. A network keeps its cut points: with one, these
        are not used.
    without
        A column or several that are not to be variables, such as an identifier.
    unknown
        What to do with a value that is not a state: ``"error"`` (the default) refuses it,
        ``"missing"`` takes it as missing, with a note.
    latent
        Variables of the network without a column: they are missing in every row. With edges in
        place of a network, `states` gives their states, or a mapping says how many there are:
        ``{"Class": 3}`` has the states 1, 2 and 3. With several numbers, ``{"Class": range(2,
        7)}``, `lacunet.learn` tries each and keeps the best by BIC.
    fully_observed
        Variables that you declare to be observed in every row; a row that misses one is an error.
        All others then count as partially observed, and large text files are not read to find out.
    delimiter
        The character between two cells of a text file; None stands for a comma in ``.csv`` files
        and a tab in ``.tsv`` files.
    encoding
        The encoding of text files, such as ``"cp1252"`` or ``"utf-16"``.
    decimal
        The character before the decimals of a number in text, ``"."`` or ``","``.
    unit, time
        Where rows are units in waves, as people at visits: the columns that say which unit a row is
        of and in which wave, a whole number. Edges are then a template: in ``"H[t-1] -> H[t]; Z ->
        H[t]"`` the variable H has a value for each wave, Z one for each unit. Waves without a row
        are missing. Weights, strata and clusters are those of units.
    waves
        The same where each row is a unit, with a column for each wave: ``{"H": ["H1", "H2",
        "H3"]}``, which are numbered from 1. None stands for a wave without a column.
    query
        One SELECT statement, whose rows are the data, in place of a source.
    database
        What to run the query on: a DuckDB or SQLite file, an address such as
        ``postgresql://user@host/name``, an open connection of DuckDB or of an ADBC driver, or None:
        then DuckDB reads the files that the query names.
    aside
        Further columns that are not variables: no warning says that they are ignored.

    Examples
    --------
    >>> Data("rows.csv", delimiter=";", missing={"Smokes": [7, 9]})
    Data('rows.csv', missing={'Smokes': (7, 9)}, delimiter=';')
    >>> Data(query="select * from visits", database="postgresql://ann:secret@db/clinic")
    Data(query='select * from visits')
    """

    source: Any = None
    _: KW_ONLY
    weight: Any = None
    counts: Any = None
    squared_weight: Any = None
    strata: Any = None
    cluster: Any = None
    replicate_weights: ReplicateWeights | None = None
    missing: Any = ()
    codes: Any = None
    not_asked: Any = None
    states: Any = None
    bins: Any = None
    without: Sequence[str] = ()
    unknown: Unknown = "error"
    latent: Sequence[str] | Mapping[str, int | Sequence[int] | None] = ()
    fully_observed: Sequence[str] = ()
    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    unit: str | None = None
    time: str | None = None
    waves: Any = None
    query: str | None = None
    database: Any = field(default=None, metadata={"unsaid": True})  # may hold a password
    aside: Sequence[str] = field(default=(), metadata={"unsaid": True})  # columns not to be noted
    # How many states each latent variable may have, where `latent` is a mapping.
    classes: Mapping[str, tuple[int, ...]] = field(default_factory=dict, metadata={"unsaid": True})
    # A panel whose rows were put in order once; the source beside it tells whether it is of these.
    held_panel: dict[str, Any] = field(default_factory=dict, metadata={"unsaid": True})

    def __post_init__(self) -> None:
        if isinstance(self.latent, Mapping):
            self.__dict__["classes"] = _numbers_of_classes(self.latent)
            self.__dict__["latent"] = tuple(map(str, self.latent))
        # Options of other data are added first: what follows looks at all of them together. What a
        # counted table says of its columns is read once the options have the form it is added to.
        if isinstance(self.source, Data):
            self._add_to(self.source)
        self._check_source()
        self._check_text_options()
        self._normalise()
        self._read_own_description()
        for name, check in PER_ROW.items():
            values = getattr(self, name)
            if values is not None and not isinstance(values, str):
                self.__dict__[name] = check(in_row_order(values, self.source, name), name)
        self._check_weights()
        self._check_replicates()
        self._check_panel()
        self._check_classes()

    def _check_panel(self) -> None:
        if (self.unit is None) != (self.time is None):
            raise DataError(
                "unit= and time= go together, and one of them is not given.",
                "unit= names the column that says whose row it is, time= that of the wave.",
            )
        if self.unit is not None and self.waves is not None:
            raise DataError(
                "unit= and time= are for rows that each hold one wave, waves= for rows that hold "
                "all: both are given.",
                "give one of the two.",
            )
        if self.waves is not None:
            from lacunet.data.panels import checked_waves

            self.__dict__["waves"] = checked_waves(self.waves)

    def _check_classes(self) -> None:
        given = {} if isinstance(self.states, Network) else self.states
        for name, numbers in self.classes.items():
            states = given.get(name)
            is_fitting = states is None or len(states) == numbers[0]
            if not is_fitting or (
                len(numbers) > 1 and states not in (None, class_names(numbers[0]))
            ):
                raise DataError(
                    f"latent= says that {name!r} has {_range_in_words(numbers)} states, and "
                    f"states= gives it {clipped(states)}.",
                    "give one of the two.",
                )

    @property
    def states_of_classes(self) -> dict[str, tuple[str, ...]]:
        """The states of latent variables whose number is given; of several numbers the first."""
        return {name: class_names(numbers[0]) for name, numbers in self.classes.items()}

    def _check_weights(self) -> None:
        if self.weight is not None and np.array_equal(self.weight, self.counts):
            raise WeightError(
                "weight= and counts= are the same numbers.",
                "counts= are numbers of equal rows, weight= sampling weights: give one of the two.",
            )
        if self.squared_weight is not None and (self.weight is None or self.counts is None):
            raise WeightError(
                "squared_weight= goes with weight= and counts=, of which one is not given.",
                "give all three, as lacunet.count wrote them.",
            )

    def _add_to(self, data: Data) -> None:
        """Take over the source and the options of other data.

        Of one column, and of what is not said by column, nothing may be said in two ways.
        """
        for option in fields(self):
            value, more = getattr(data, option.name), getattr(self, option.name)
            if option.name == "source" or not _is_said(more, option.default):
                self.__dict__[option.name] = value
            elif _is_said(value, option.default):
                self.__dict__[option.name] = _both(option.name, value, more)

    def _normalise(self) -> None:
        """Put each option in the one form that is read."""
        options = self.__dict__
        if is_one_row(self.source):
            options["source"] = {name: [value] for name, value in self.source.items()}
        if self.unknown not in get_args(Unknown):
            raise DataError(f"unknown= is {self.unknown!r}, but must be 'error' or 'missing'.")
        for name in ("latent", "fully_observed", "without"):
            options[name] = _names(name, options[name])
        options["missing"] = _missing(self.missing)
        if not isinstance(self.states, Mapping | None):  # a network, a result or a path of one
            options["states"] = as_network(self.states)
        if isinstance(self.bins, Integral | str):
            options["bins"] = {None: self.bins}
        for name in ("codes", "not_asked", "bins", "states"):
            if isinstance(options[name], Network):
                continue
            if not isinstance(options[name], Mapping | None):
                raise DataError(f"{name}= is not a mapping from columns to what is said of them.")
            options[name] = dict(options[name] or {})
        _check_bins_of_all(self.bins.get(None, "auto"))

    def _read_own_description(self) -> None:
        """Take over what a table of counted rows says of its columns."""
        description = roles_in_data(self.source)
        options = self.__dict__
        options["latent"] = tuple(dict.fromkeys((*description.get("latent", ()), *self.latent)))
        for option in ("codes", "not_asked"):
            options[option] = {**description.get(option, {}), **options[option]}
        for option in COLUMNS:
            if option in description:
                self._take_over(option, description[option])
        replicates = description.get("replicate_weights")
        if replicates is None:
            return
        columns = tuple(replicates["columns"])
        # Where the user has named the same columns, what is said of them stands.
        if self.replicate_weights is None or self.replicate_weights.names != columns:
            self._take_over("replicate_weights", ReplicateWeights(**replicates))

    def _take_over(self, option: str, value: Any) -> None:
        """Use a column for what the table says that it holds, unless it has been set aside."""
        columns = value.names if isinstance(value, ReplicateWeights) else [value]
        if {*columns} <= {*self.aside}:
            return
        current = getattr(self, option)
        is_same = isinstance(current, str) and current == value
        if current is not None and not is_same:
            raise WeightError(
                f"{option}= is given for a table of counted rows, which has a column for it: "
                f"{short_list(columns)}.",
                f"leave {option}= out.",
            )
        self.__dict__[option] = value

    def _check_replicates(self) -> None:
        if self.replicate_weights is None:
            return
        if not isinstance(self.replicate_weights, ReplicateWeights):
            raise WeightError(
                "replicate_weights= does not say their kind.",
                "give lacunet.ReplicateWeights([...], kind='jackknife'), or 'brr', or 'fay'.",
            )
        if self.weight is None:
            raise WeightError(
                "replicate_weights= are given without the weights that they are replicates of.",
                "name these too: weight=.",
            )
        if self.is_clustered:
            raise WeightError(
                "replicate_weights= and strata= or cluster= are given: they say the same twice.",
                "give one of the two.",
            )

    def _check_source(self) -> None:
        has_source = self.source is not None
        has_query = self.query is not None
        has_database = self.database is not None
        if has_source == has_query or (has_database and not has_query):
            raise DataError(
                "give Data a source or a query, and not both, and a database with a query alone.",
                "Data('rows.csv'), or Data(query='select ...', database='clinic.db').",
            )

    def _check_text_options(self) -> None:
        """Refuse ways of writing text that cannot be read."""
        mark = self.delimiter
        # Arrow's reader takes a single byte.
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in '"\r\n'):
            raise DataError(
                f"the delimiter {mark!r} is not one ASCII character other than a quote "
                "or a line break.",
                "write a tab as '\\t'.",
            )
        if self.decimal not in (".", ","):
            raise DataError(f"decimal is {self.decimal!r}, but must be '.' or ','.")
        try:
            "a".encode(self.encoding)  # which refuses codecs that are not of text
        except (LookupError, ValueError):
            raise DataError(
                f"the encoding {self.encoding!r} is unknown.", "try 'cp1252' or 'utf-16'."
            ) from None

    def __repr__(self) -> str:
        arguments = []
        if self.source is not None:
            kind = type(self.source).__name__
            arguments.append(f"<{kind} of {self._size}>" if self._size else _shown(self.source))
        for name, value in self.given_options.items():
            if name != "source":
                arguments.append(f"{name}={_shown(value)}")
        return f"Data({without_secrets(', '.join(arguments))})"

    def __dir__(self) -> list[str]:
        """The options; what the package itself needs of them is not completed."""
        options = {option.name for option in fields(self)} - {*INNER_OPTIONS}
        return [name for name in super().__dir__() if name.startswith("_") or name in options]

    @property
    def _size(self) -> str:
        """The rows and columns of a source in memory; nothing of others, which would be read."""
        source = self.source
        shape = getattr(source, "shape", None)
        if isinstance(source, Mapping) and source:
            shape = len(next(iter(source.values()))), len(source)
        if not isinstance(shape, tuple) or len(shape) != 2:
            return ""
        rows, columns = (counted(int(size), noun) for size, noun in zip(shape, NOUNS, strict=True))
        return f"{rows} and {columns}"

    def _parts(self) -> list[object]:
        """The source, its rows and columns where they are at hand, and what is said of them."""
        options = self.given_options
        rows = []
        if self.source is not None:
            rows.append(["source", self._size or _shown(options.pop("source", self.source))])
        options.pop("source", None)
        if names := _column_names(self.source):
            rows.append(["columns", first_of(names, MAX_COLUMNS_IN_DISPLAY)])
        for option, value in options.items():
            rows.append([option, _in_words(value)])
        return [TextTable(["Data", ""], [[*map(without_secrets, row)] for row in rows], left=2)]

    def every_row(self, learned: object = None) -> Data:
        """The same for what looks at each row by itself: none is left out for its weight.

        The columns that say something of rows, also those that a result was ``learned`` with, have
        no part in it.
        """
        aside = (*self.aside, *self.beside, *columns_of_roles(learned))
        if not (aside or self.lengths):
            return self
        unweighted: dict[str, Any] = dict.fromkeys((*PER_ROW, "replicate_weights"))
        return replace(self, **unweighted, aside=aside)

    def with_latent(self, variables: Container[str], columns: Collection[str]) -> Data:
        """The same; what was latent to a result, and has no column here either, is latent again."""
        absent = [v for v in self.aside if v in variables and v not in (*columns, *self.latent)]
        return replace(self, latent=(*self.latent, *absent)) if absent else self

    def weighed_as(self, learned: object) -> Data:
        """The rows that a result was learned from: their weights are those of the same columns."""
        roles: Mapping[str, tuple[str, ...]] = getattr(learned, "beside", {})
        columns: dict[str, Any] = {}
        if not self.is_weighted:
            for role in ("weight", "counts", "squared_weight"):
                if roles.get(role):  # none where the weights were given row by row
                    columns[role] = roles[role][0]
        return replace(self, **columns, aside=columns_of_roles(learned))

    @property
    def given_options(self) -> dict[str, Any]:
        """The options that are not as they are by default; none that may hold a password."""
        options = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if "unsaid" not in option.metadata and _is_said(value, option.default):
                options[option.name] = value
        # `latent` holds the names alone: they are shown with their numbers of states, as typed.
        if self.classes and self.latent:
            options["latent"] = {name: self.classes.get(name, ()) for name in self.latent}
        return options

    @property
    def is_weighted(self) -> bool:
        """Whether rows may differ in weight."""
        return self.weight is not None or self.counts is not None

    @property
    def is_panel(self) -> bool:
        """Whether the rows are of units in waves."""
        return self.unit is not None or self.waves is not None

    @property
    def has_design(self) -> bool:
        """Whether strata, clusters or replicate weights are told."""
        is_told = self.is_clustered or self.replicate_weights is not None
        return is_told or getattr(self.source, "design", None) is not None

    @property
    def is_clustered(self) -> bool:
        """Whether strata or clusters are told."""
        return self.strata is not None or self.cluster is not None

    @property
    def beside(self) -> dict[str, str]:
        """The columns that say something of rows and are not variables, with what they are for."""
        use_of: dict[str, str] = {}
        for option in PER_ROW:
            column = getattr(self, option)
            if isinstance(column, str):
                use_of[column] = option
        if self.replicate_weights is not None:
            use_of |= dict.fromkeys(self.replicate_weights.names, "replicate_weights")
        return use_of

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """What is said of rows: each with its columns, none where it is given row by row.

        The latent variables are among it.
        """
        use_of = self.beside
        columns_of: dict[str, tuple[str, ...]] = {}
        for option in (*PER_ROW, "replicate_weights"):
            if getattr(self, option) is not None:
                columns_of[option] = tuple(c for c, use in use_of.items() if use == option)
        if self.latent:
            columns_of["latent"] = tuple(self.latent)
        return columns_of

    @property
    def extras(self) -> int:
        """How many numbers go with each row beside its codes."""
        numbers = 0
        if self.is_weighted:
            numbers += 1
        if self.counts is not None:
            numbers += 2  # the rows that each stands for, and the sum of their squared weights
        if self.strata is not None:
            numbers += 1
        if self.cluster is not None:
            numbers += 1
        if self.replicate_weights is not None:
            numbers += len(self.replicate_weights.factors)
        return numbers

    @property
    def lengths(self) -> dict[str, int]:
        """For how many rows each of what is given row by row beside the data is given."""
        values_of = {name: getattr(self, name) for name in PER_ROW}
        if self.replicate_weights is not None:
            values_of["replicate_weights"] = self.replicate_weights.columns
        arrays = {n: values for n, values in values_of.items() if isinstance(values, np.ndarray)}
        return {name: len(values) for name, values in arrays.items()}

    @property
    def missing_anywhere(self) -> tuple[object, ...]:
        """What means "not observed" in all columns, unless it is a state."""
        codes: tuple[object, ...] = self.missing.get(None, ())
        return codes

    def codes_in(self, column: str) -> dict[str, object]:
        """What is said of codes of this column, by their spelling; None for "not observed"."""
        missing: dict[str, object] = {spelled(code): None for code in self.missing.get(column, ())}
        return missing | by_spelling(column, self.codes.get(column, {}))


hide_parameters(Data, *INNER_OPTIONS)


def as_data(data: Any) -> Data:
    """The data as one value."""
    if data is None:
        raise DataError.unknown_kind(data)
    return data if isinstance(data, Data) else Data(data)


def refuse_options_of_data(keywords: Sequence[str]) -> None:
    """Refuse keywords of a function that say how data are read, which `Data` does alone.

    Raises
    ------
    DataError
        Some do; others are for Python to refuse.
    """
    options = [f"{keyword}=" for keyword in keywords if keyword in Data.__dataclass_fields__]
    if options:
        verb = "says" if len(options) == 1 else "say"
        raise DataError(
            f"{' and '.join(options)} {verb} how data are read.",
            f"give the data as lacunet.Data(data, {', '.join(f'{each}...' for each in options)}).",
        )


def columns_of_roles(learned: object, but: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns that say something of the rows of a result, but those of some roles."""
    roles: Mapping[str, tuple[str, ...]] = getattr(learned, "beside", {})
    return tuple(column for role, columns in roles.items() if role not in but for column in columns)


def is_one_row(source: Any) -> bool:
    """Whether data are a dict of single values."""
    if not isinstance(source, Mapping) or not source:
        return False
    cells = source.values()
    return all(isinstance(cell, str | bytes) or not hasattr(cell, "__len__") for cell in cells)


def _is_said(value: Any, default: object) -> bool:
    """Whether an option is given: neither as it is by default nor empty.

    Only what has a length of its own is compared by value: an array would be so cell by cell.
    """
    if isinstance(value, str | Sequence | Mapping):
        return len(value) > 0 and value != default
    return value is not None and value is not default


def _both(option: str, value: Any, more: Any) -> Any:
    """What is said of data and what more is said of them; by column, or the same in both."""
    if option in ("without", "latent", "fully_observed"):
        return tuple(dict.fromkeys((*value, *_names(option, more))))
    # The options of the other data have their normal form already, these have not.
    if option == "missing":
        more = _missing(more)
    elif option == "bins" and isinstance(more, Integral | str):
        more = {None: more}
    if isinstance(value, Mapping) and isinstance(more, Mapping):
        shared = value.keys() & more.keys()
        # By what they print: cut points may be arrays, which have no one truth when compared.
        if all(repr(value[name]) == repr(more[name]) for name in shared):
            return {**value, **more}
    elif isinstance(value, str | int) and value == more:
        return value
    raise DataError(
        f"{option}= is said twice, of data that have it already.",
        "say it in one of the two.",
    )


def _check_bins_of_all(bins: object) -> None:
    """Refuse what cannot be said of all columns: neither a number of intervals nor "auto"."""
    is_number = isinstance(bins, Integral) and not isinstance(bins, bool)
    if bins != "auto" and not (is_number and int(bins) >= 2):  # type: ignore[call-overload]
        raise DataError(
            f"bins={bins!r} (--bins) for all columns is neither a number of intervals, from 2 "
            "upwards, nor 'auto'.",
            "give bins=5 or bins='auto'; or say it by column: bins={'Age': [0, 40, 65], "
            "'Visit': 'month'}.",
        )


def _names(option: str, names: str | Sequence[str]) -> tuple[str, ...]:
    """The names as strings; a lone string is one name, not its letters."""
    is_one = isinstance(names, str) or not np.iterable(names)
    several = [names] if is_one else [*names]
    for name in several:
        if name is None or (np.iterable(name) and not isinstance(name, str)):
            raise DataError(
                f"{option}= holds {clipped(name)}, which is not the name of a variable.",
                f"give one name, or a list of names: {option}=['Age', 'Sex'].",
            )
    return tuple(map(str, several))


def class_names(number: int) -> tuple[str, ...]:
    """The states of a latent variable of which only their number is known."""
    return tuple(str(index + 1) for index in range(number))


def _numbers_of_classes(latent: Mapping[Any, Any]) -> dict[str, tuple[int, ...]]:
    """How many states each latent variable may have, where that is said.

    Examples
    --------
    >>> _numbers_of_classes({"Class": range(2, 5), "Mood": 2, "Taste": None})
    {'Class': (2, 3, 4), 'Mood': (2,)}
    """
    numbers_of = {}
    for name, numbers in latent.items():
        if numbers is None:
            continue
        several: Any = [numbers] if isinstance(numbers, Integral) else numbers
        is_list = np.iterable(several) and not isinstance(several, str)
        checked = [*dict.fromkeys(several)] if is_list else []
        are_numbers = all(isinstance(each, Integral) and int(each) >= 1 for each in checked)
        if not checked or not are_numbers or any(isinstance(each, bool) for each in checked):
            raise DataError(
                f"latent= says that {name!r} has {clipped(numbers)} states.",
                f"give a number, or several to choose from: latent={{{name!r}: range(2, 7)}}.",
            )
        numbers_of[str(name)] = tuple(sorted(map(int, checked)))
    return numbers_of


def _range_in_words(numbers: Sequence[int]) -> str:
    """Numbers as they are said: one, or from the first to the last."""
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]} to {numbers[-1]}"


def _missing(missing: Any) -> dict[str | None, tuple[object, ...]]:
    """The codes of each column, and of all (None)."""
    by_column = missing if isinstance(missing, Mapping) else {None: missing}
    codes_of: dict[str | None, tuple[object, ...]] = {}
    for column, meant in by_column.items():
        codes = _codes(meant)
        if codes:
            codes_of[None if column is None else str(column)] = codes
    return codes_of


def _codes(codes: Any) -> tuple[object, ...]:
    """One code or several."""
    if isinstance(codes, str | bytes | bool | int | float) or not np.iterable(codes):
        return (codes,)
    return tuple(codes.tolist() if isinstance(codes, np.ndarray) else codes)


def in_row_order(values: Any, source: Any, option: str) -> Any:
    """Values of rows in the order of the rows: a series of pandas has them by its index.

    The rows of data that have no index are numbered from 0.

    Raises
    ------
    DataError
        The index does not say which value belongs to which row.
    """
    index = _index_of(values)
    if index is None:
        return values
    import pandas as pd

    # A dict of columns goes by the first that has an index.
    columns = source.values() if isinstance(source, Mapping) else [source]
    indexes = (_index_of(column) for column in columns)
    rows = next((row_index for row_index in indexes if row_index is not None), None)
    if index.equals(pd.RangeIndex(len(index)) if rows is None else rows):
        return values
    by_position = f"if its values are in the order of the rows, give {option}.to_numpy()."
    if rows is None:
        raise DataError(
            f"{option}= is a pandas series with an index of its own, and the data have no index.",
            by_position,
        )
    if not index.is_unique:
        raise DataError(
            f"{option}= is a pandas series in which {index[index.duplicated()].tolist()[0]!r} "
            "occurs twice in the index, which is not that of the data.",
            by_position,
        )
    absent = rows[~rows.isin(index)]
    if len(absent):
        raise DataError(
            f"{option}= is a pandas series without a value for {counted(len(absent), 'row')} of "
            f"the data, such as the row {absent.tolist()[0]!r} by their index.",
            by_position,
        )
    return _native(values).reindex(rows)


def _index_of(values: Any) -> Any:
    """The index of a series or a frame of pandas; None for what has none."""
    import narwhals as nw

    native = _native(values)
    is_series = nw.dependencies.is_pandas_like_series(native)
    is_indexed = is_series or nw.dependencies.is_pandas_like_dataframe(native)
    return native.index if is_indexed else None


def _native(values: Any) -> Any:
    """What Narwhals wraps, or the values themselves."""
    import narwhals as nw

    return nw.to_native(values, pass_through=True)


def _labels(labels: Any, name: str) -> NDArray[np.object_]:
    """The labels of strata or clusters, one for each row, as Python objects."""
    cells = []
    if hasattr(labels, "to_list"):  # a series: its own values, not those of NumPy
        cells = list(labels.to_list())
    elif np.iterable(labels):
        cells = list(labels)
    is_nested = any(isinstance(cell, list | tuple | dict) for cell in cells)
    if not np.iterable(labels) or is_nested:
        raise DataError(f"{name}= is the name of a column, or one label for each row.")
    return np.fromiter(cells, dtype=object, count=len(cells))


# What is a column's name, or a value for each row; and how the latter is checked.
PER_ROW = {
    "weight": number_array,
    "counts": number_array,
    "squared_weight": number_array,
    "strata": _labels,
    "cluster": _labels,
}


NOUNS = ("row", "column")
SHORT = (tuple, list, dict, str, int, float)  # what is said of one column
MAX_COLUMNS_IN_DISPLAY = 12


def _column_names(source: Any) -> list[str]:
    """The columns of a source in memory."""
    if type(source).__name__ == "LazyFrame":  # which would work to tell them
        return []
    names = source if isinstance(source, Mapping) else getattr(source, "column_names", None)
    names = getattr(source, "columns", ()) if names is None else names
    return [str(name) for name in names] if isinstance(names, Iterable) else []


def _in_words(value: Any) -> str:
    """What is said of columns, column by column; any other value in short."""
    if isinstance(value, Network):
        return repr(value)
    if not isinstance(value, Mapping):
        if isinstance(value, tuple):
            return ", ".join(map(str, value))
        return _shown(value).strip("'")
    parts = []
    for name, meaning in value.items():
        listed_values = isinstance(meaning, tuple | list) and meaning[:1] != ("width",)
        words = ", ".join(map(str, meaning)) if listed_values else str(meaning)
        parts.append(f"{'all' if name is None else name}: {words}")
    return first_of(parts, MAX_COLUMNS_IN_DISPLAY, "; ")


def _shown(value: Any) -> str:
    """A value of `Data` in short."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, dict) and [*value] == [None]:  # said of all columns, as it was typed
        value = list(value[None]) if isinstance(value[None], tuple) else value[None]
    if isinstance(value, str | bool | int | float | tuple | list):
        return clipped(value)
    if isinstance(value, dict) and all(isinstance(cell, SHORT) for cell in value.values()):
        return clipped(value)
    if isinstance(value, np.ndarray):
        return f"<{len(value):,} values>"
    return f"<{type(value).__name__}>"
