"""What networks and results are asked, as methods: each is carried out up the road."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from lacunet.network.arguments import clear_arguments

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from narwhals.typing import IntoDataFrameT

    from lacunet.ask.effect import Effect
    from lacunet.ask.predict.predict import Given
    from lacunet.ask.predict.predictor import Predictor
    from lacunet.inference.answer import Answer
    from lacunet.inference.query import Unsupported
    from lacunet.limits import Memory
    from lacunet.network.labelled_tables import Library

Evidence = Mapping[str, object]


@clear_arguments
class Askable:
    """What a network with CPTs answers, and so do a result and a learned structure.

    Variables and states are written as in the data: 5 and "5" are the same state. ``evidence`` are
    the states that are seen, ``do`` those that variables are set to from outside. Evidence may also
    be one of several states, ``{"Age": ["40-59", "60+"]}``, a comparison where states are numbers
    or intervals of them, ``{"Age": ">=60"}``, or how likely what was observed is in each state,
    ``{"Test": {"pos": 0.8, "neg": 0.2}}`` (likelihood evidence). ``memory`` is
    what inference may take, in bytes or such as ``"500MB"``; by default half of what there is.
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # where any name would be an attribute

        def __getattr__(self, name: str) -> Any:
            """Nothing: what it can do is named."""
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                public = [name for name in dir(self) if not name.startswith("_")]
                message += f"; it has {', '.join(public)}"
            raise AttributeError(message, name=name, obj=self)

    def query(
        self,
        target: str | Sequence[str],
        evidence: Evidence | None = None,
        *,
        do: Evidence | None = None,
        level: float = 0.95,
        unsupported: Unsupported = "warn",
        memory: Memory = None,
    ) -> Answer:
        """The joint distribution of the target given the evidence, P(target | evidence, do).

        Parameters
        ----------
        target
            The variables asked for, or a query as it is written: ``"P(Ill | do(Drug=yes), Age)"``.
        evidence
            The states that are seen, or what else is known: ``["40-59", "60+"]``, ``">=60"``,
            ``{"pos": 0.8, "neg": 0.2}``.
        do
            The states that variables are set to from outside: the edges into them are cut.
        level
            The level of the intervals, which the answer has where the result has any.
        unsupported
            What to do where the answer rests on CPT rows without data: "warn", "refuse", "ignore";
            with "bounds" the answer says how far these rows could move it.
        memory
            The bytes that inference may take.

        Examples
        --------
        >>> from lacunet import Network
        >>> rain = Network(
        ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
        ...     {"Wet": ["Rain"]},
        ...     {"Rain": [0.8, 0.2], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
        ... )
        >>> print(rain.query("Rain", {"Wet": "yes"}))
        P(Rain | Wet=yes)
            no     yes
        0.3333  0.6667
        """
        from lacunet.inference.query import query

        return query(
            self,
            target,
            evidence or {},
            do=do or {},
            level=level,
            unsupported=unsupported,
            memory=memory,
        )

    def marginals(
        self,
        evidence: Evidence | None = None,
        *,
        do: Evidence | None = None,
        variables: Sequence[str] | None = None,
        level: float = 0.95,
        unsupported: Unsupported = "warn",
        memory: Memory = None,
    ) -> Mapping[str, Answer]:
        """The distribution of every variable, or of some, given the evidence: P(X | evidence, do).

        All of them come from one calculation, which takes less time than a `query` for each.

        Parameters
        ----------
        evidence, do, level, unsupported, memory
            As in `query`.
        variables
            The variables asked about; all of them if not given.

        Examples
        --------
        >>> from lacunet import Network
        >>> coin = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
        >>> print(coin.marginals()["Coin"])
        P(Coin)
          head    tail
        0.2500  0.7500
        """
        from lacunet.inference.query import marginals

        return marginals(
            self,
            evidence or {},
            do=do or {},
            variables=variables,
            level=level,
            unsupported=unsupported,
            memory=memory,
        )

    def effect(
        self,
        target: str,
        *,
        do: str,
        evidence: Evidence | None = None,
        reference: object = None,
        outcome: object = None,
        level: float = 0.95,
    ) -> Effect:
        """What setting one variable does to another: differences, ratios and odds ratios.

        It takes the edges as causes, and assumes no hidden common causes. Where there are some, ask
        `MissingnessGraph.effect`.

        Parameters
        ----------
        target
            The variable that the effect is on.
        do
            The variable that is set: the treatment.
        evidence
            The group in which the effect is asked for.
        reference
            The state of ``do`` to compare with; its first if not given.
        outcome
            The state of ``target`` whose probabilities are compared. If not given: the second of
            two states, otherwise each.
        level
            The level of the intervals, which the effect has where the result has any.

        Examples
        --------
        >>> from lacunet import Network
        >>> drug = Network(
        ...     {"Drug": ["no", "yes"], "Well": ["no", "yes"]},
        ...     {"Well": ["Drug"]},
        ...     {"Drug": [0.5, 0.5], "Well": [[0.8, 0.2], [0.5, 0.5]]},
        ... )
        >>> round(drug.effect("Well", do="Drug").contrasts[0].difference.value, 3)
        0.3
        """
        from lacunet.ask.effect import effect

        return effect(
            self,
            target,
            do=do,
            evidence=evidence or {},
            reference=reference,
            outcome=outcome,
            level=level,
        )

    @overload
    def predict(
        self,
        rows: IntoDataFrameT,
        targets: str | Sequence[str],
        *,
        give: Given | Sequence[Given] = ...,
        given_targets: bool = ...,
        unsupported: Unsupported = ...,
        keep: str | Sequence[str] = ...,
        memory: Memory = ...,
    ) -> IntoDataFrameT: ...

    @overload
    def predict(
        self,
        rows: object,
        targets: str | Sequence[str],
        *,
        give: Given | Sequence[Given] = ...,
        given_targets: bool = ...,
        unsupported: Unsupported = ...,
        keep: str | Sequence[str] = ...,
        memory: Memory = ...,
    ) -> pa.Table: ...

    def predict(
        self,
        rows: Any,
        targets: str | Sequence[str],
        *,
        give: Given | Sequence[Given] = "probabilities",
        given_targets: bool = False,
        unsupported: Unsupported = "warn",
        keep: str | Sequence[str] = (),
        memory: Memory = None,
    ) -> Any:
        """The posterior of some variables for every row, given what the row shows of the others.

        Parameters
        ----------
        rows
            Whatever `lacunet.learn` takes as data, or one row: ``{"Age": "old", "Ill": None}``.
        targets
            The variables to predict.
        give
            ``"probabilities"``, the most probable ``"states"``, the ``"log-probability"`` of the
            row, the share of the prediction that is ``"unsupported"`` by data; or several.
        given_targets
            Whether a target that a row shows is evidence.
        unsupported
            As in `query`; with "bounds" there are columns for the lowest and highest probabilities.
        keep
            Columns of the rows to put before the predictions.
        memory
            The bytes that inference may take.

        Examples
        --------
        >>> from lacunet import Network
        >>> rain = Network(
        ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
        ...     {"Wet": ["Rain"]},
        ...     {"Rain": [0.75, 0.25], "Wet": [[0.75, 0.25], [0.25, 0.75]]},
        ... )
        >>> rain.predict({"Wet": ["yes", "no", None]}, "Rain")
        {'Rain=no': [0.5, 0.9, 0.75], 'Rain=yes': [0.5, 0.1, 0.25]}
        """
        from lacunet.ask.predict.predict import predict

        return predict(
            self,
            rows,
            targets,
            give=give,
            given_targets=given_targets,
            unsupported=unsupported,
            keep=keep,
            memory=memory,
        )

    def compile(self, targets: str | Sequence[str], *, memory: Memory = None) -> Predictor:
        """A function that predicts the targets for one row at a time, such as a service gets.

        A row takes about 0.1 ms more than a query.

        Parameters
        ----------
        targets
            The variables to predict.
        memory
            The bytes that inference may take.

        Examples
        --------
        >>> from lacunet import Network
        >>> coin = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
        >>> predictor = coin.compile("Coin")
        >>> predictor({"Day": 3})["Coin"].values()
        [0.25, 0.75]
        """
        from lacunet.ask.predict.predictor import compile  # noqa: A004

        return compile(self, targets, memory=memory)

    @overload
    def impute(
        self,
        rows: IntoDataFrameT,
        draws: None = None,
        *,
        how: Literal["draw", "most probable"] = ...,
        rng: np.random.Generator | int | None = ...,
        proper: bool | None = ...,
        unsupported: Literal["warn", "refuse", "ignore"] = ...,
        memory: Memory = ...,
    ) -> IntoDataFrameT: ...

    @overload
    def impute(
        self,
        rows: IntoDataFrameT,
        draws: int,
        *,
        how: Literal["draw", "most probable"] = ...,
        rng: np.random.Generator | int | None = ...,
        proper: bool | None = ...,
        unsupported: Literal["warn", "refuse", "ignore"] = ...,
        memory: Memory = ...,
    ) -> list[IntoDataFrameT]: ...

    @overload
    def impute(
        self,
        rows: object,
        draws: None = None,
        *,
        how: Literal["draw", "most probable"] = ...,
        rng: np.random.Generator | int | None = ...,
        proper: bool | None = ...,
        unsupported: Literal["warn", "refuse", "ignore"] = ...,
        memory: Memory = ...,
    ) -> pa.Table: ...

    @overload
    def impute(
        self,
        rows: object,
        draws: int,
        *,
        how: Literal["draw", "most probable"] = ...,
        rng: np.random.Generator | int | None = ...,
        proper: bool | None = ...,
        unsupported: Literal["warn", "refuse", "ignore"] = ...,
        memory: Memory = ...,
    ) -> list[pa.Table]: ...

    def impute(
        self,
        rows: Any,
        draws: int | None = None,
        *,
        how: Literal["draw", "most probable"] = "draw",
        rng: np.random.Generator | int | None = None,
        proper: bool | None = None,
        unsupported: Literal["warn", "refuse", "ignore"] = "warn",
        memory: Memory = None,
    ) -> Any:
        """The rows with every missing cell of the network's variables filled in.

        They are drawn from their joint distribution given what the row shows. To analyse completed
        rows use ``draws`` and `lacunet.pool`.

        Parameters
        ----------
        rows
            Whatever `lacunet.learn` takes as data, or one row: ``{"Age": "old", "Ill": None}``.
        draws
            How many completed frames to draw, for multiple imputation; by default one, by itself.
        how
            ``"draw"``, or ``"most probable"`` for the likeliest completion of each row.
        rng
            A seed or a generator. The same seed gives the same result; None another each time.
        proper
            Whether each frame is drawn with CPTs of its own, which needs a result of learning. By
            default two frames or more are; one frame is drawn with the CPTs as they are.
        unsupported
            What to do where completions rest on CPT rows without data: "warn", "refuse", "ignore".
        memory
            The bytes that inference may take.

        Examples
        --------
        >>> from lacunet import Network
        >>> rain = Network(
        ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
        ...     {"Wet": ["Rain"]},
        ...     {"Rain": [0.75, 0.25], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
        ... )
        >>> rows = {"Rain": [None, "no"], "Wet": ["yes", None], "Day": [1, 2]}
        >>> rain.impute(rows, how="most probable")
        {'Rain': ['yes', 'no'], 'Wet': ['yes', 'no'], 'Day': [1, 2]}
        """
        from lacunet.ask.impute.impute import impute

        return impute(
            self,
            rows,
            draws,
            how=how,
            rng=rng,
            proper=proper,
            unsupported=unsupported,
            memory=memory,
        )

    def sample(
        self,
        rows: int,
        *,
        missing: Any = False,
        rng: np.random.Generator | int | None = None,
        library: Library | None = None,
    ) -> Any:
        """Draw complete rows; or with ``missing`` a twin of the table, which misses what it missed.

        A twin has the columns of the table that was learned from, numbers as numbers, and as many
        holes in the same places, by the mechanisms that were learned. If none were, they are
        learned now from rows that the result has seen, as missing at random. Pairs of columns are
        then fitted to these, too.

        Parameters
        ----------
        rows
            The number of rows.
        missing
            True for a twin; or the rows to learn from how values go missing, which a network alone
            does not know, nor does a result that was read from a file.
        rng
            A seed or a generator. The same seed gives the same result; None another each time.
        library
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default pandas where it is installed,
            otherwise PyArrow.

        Examples
        --------
        >>> from lacunet import Network
        >>> coin = Network({"Coin": ["head", "tail"]}, {}, {"Coin": [0.0, 1.0]})
        >>> coin.sample(3, rng=0)["Coin"].tolist()
        ['tail', 'tail', 'tail']
        """
        from lacunet.simulation.simulate import sample

        return sample(self, rows, missing=missing, rng=rng, library=library)

    def log_likelihood(self, rows: Any, *, memory: Memory = None) -> float:
        """The natural logarithm of the probability of the rows: the sum of log P(x) over them.

        Weights and counts of rows are those of `lacunet.Data`.

        Parameters
        ----------
        rows
            Whatever `lacunet.learn` takes as data; cells may be missing.
        memory
            The bytes that reading the rows and inference may take.

        Examples
        --------
        >>> from lacunet import Network
        >>> coin = Network({"Coin": ["head", "tail"]}, {}, {"Coin": [0.5, 0.5]})
        >>> round(coin.log_likelihood({"Coin": ["head", "tail", None]}), 4)  # 2 log 0.5
        -1.3863
        """
        from lacunet.inference.likelihood import log_likelihood

        return log_likelihood(self, rows, memory=memory)

    def write(self, path: str | os.PathLike[str], *, rename: bool = False) -> None:
        """Write the network to a file; the format follows the file's name.

        The file appears whole or not at all, and reading it gives back the same network to the
        last bit. A format that does not carry all of it says in a warning what was left out;
        ``.json`` carries all.

        Parameters
        ----------
        path
            A file name that ends in ``.bif``, ``.xmlbif``, ``.net``, ``.dsc``, ``.xdsl``, ``.uai``
            or ``.json``, or that with ``.gz`` behind.
        rename
            Replace names that the format cannot carry, ``40-59`` by ``s40_59``; a warning lists
            them.

        Raises
        ------
        FormatError
            The format cannot carry the network, or the file cannot be written.
        """
        from lacunet.network.formats.files import write_network

        write_network(self, path, rename=rename)
