"""The one door: a network and its data, opened once by all that learns, counts or asks of rows.

Behind it each value has one type: a `Network` with the codes and rules that come with the data,
`Observations`, a budget in bytes and a `Progress`. What kind of thing the two were given as, a
file, edges, a data frame or rows that are open already, is asked here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lacunet.counts.observations import Observations, observations
from lacunet.data.column_rules import with_data_codes, with_waves
from lacunet.data.data import Data, as_data, class_names
from lacunet.data.network_or_edges import network_beside
from lacunet.limits import Memory, memory_budget
from lacunet.network.errors import NetworkError
from lacunet.network.formats.files import NetworkOrEdges
from lacunet.network.network import Network, Scope
from lacunet.network.waves import in_all_waves, untied
from lacunet.progress import AskedProgress, Progress, as_progress

if TYPE_CHECKING:
    from lacunet.data.donors import DonorSampler
    from lacunet.network.shapes.shape import Shape


@dataclass(frozen=True)
class OpenRows:
    """A network and the rows beside it."""

    brought: Network  # as it was given, with its CPTs if it has any
    network: Network  # with the codes and rules that come with the data
    data: Data  # where the rows are, and how their cells are read
    budget: int  # the bytes of memory that may be used
    progress: Progress
    # The network before the data said what codes mean: reading tells where the two differ.
    before: Network

    @property
    def latent(self) -> Scope:
        """The variables that no column shows, as the data declare them."""
        return tuple(self.data.latent)

    def with_classes(self, number_of: Mapping[str, int]) -> OpenRows:
        """The same where latent variables have so many states; of a panel in all waves."""
        variables = self.network.variables
        states_of = {
            member: class_names(number)
            for name, number in number_of.items()
            for member in in_all_waves([name], variables)
            if self.network.cardinality(member) != number
        }
        if not states_of:
            return self
        return replace(
            self,
            brought=self.brought.with_states(states_of),
            network=self.network.with_states(states_of),
            before=self.before.with_states(states_of),
        )

    def with_shapes(
        self, tied: Iterable[Sequence[str]] | Mapping[str, bool], shapes: Mapping[str, str | Shape]
    ) -> OpenRows:
        """The same where some CPTs are one, and some are no full tables, beside those known so."""
        if not shapes and not tied and not isinstance(tied, bool):
            return self
        # "fixed" is to what was brought: the network of the rows has no CPTs.
        known = with_ties_and_shapes(self.brought, (), shapes).shapes_of
        asked = {**shapes_in_waves(shapes, self.brought), **known}
        network = with_ties_and_shapes(self.network, tied, asked)
        return replace(self, network=network, before=with_ties_and_shapes(self.before, tied, asked))

    @contextmanager
    def rows(
        self, sampler: DonorSampler | None = None, *, is_read_again: bool = True
    ) -> Iterator[Observations]:
        """The rows: in memory if they take a fourth of the budget at most, else streamed.

        ``is_read_again`` says whether more may be asked of them than the counts of families.
        """
        with observations(
            self.data,
            self.before,
            self.budget,
            progress=self.progress,
            sampler=sampler,
            is_read_again=is_read_again,
        ) as rows:
            yield rows


def with_ties_and_shapes(
    network: Network,
    tied: Iterable[Sequence[str]] | Mapping[str, bool],
    shapes: Mapping[str, str | Shape],
) -> Network:
    """The network where some CPTs are one, and some are no full tables; of a panel in all waves.

    Raises
    ------
    NetworkError
        They are given in another form, or the network cannot have them.
    """
    is_groups = isinstance(tied, Iterable) and not any(isinstance(group, str) for group in tied)
    if not isinstance(tied, Mapping) and not is_groups:
        raise NetworkError(
            f"tied= is {tied!r}, but must be groups of variables.",
            "as in tied=[['Visit2', 'Visit3']]; in a panel tied={'H': False} gives H a CPT of "
            "its own in each wave.",
        )
    if not isinstance(shapes, Mapping):
        raise NetworkError(
            f"shapes= is {shapes!r}, but must say which CPT has which shape.",
            "as in shapes={'Fever': 'noisy-or'}.",
        )
    if isinstance(tied, Mapping):
        network = untied(network, tied)
    elif tied:
        network = network.with_ties([*network.tied, *tied])
    if not shapes:
        return network
    return network.with_shapes({**network.shapes_of, **shapes_in_waves(shapes, network)})


def shapes_in_waves(shapes: Mapping[str, str | Shape], network: Network) -> dict[str, str | Shape]:
    """Shapes by variable; what is said of a variable of a panel holds in all its waves."""
    return {
        variable: shape
        for name, shape in shapes.items()
        for variable in in_all_waves([name], network.variables)
    }


def open_rows(
    function: str,
    network: NetworkOrEdges,
    data: Any,
    memory: Memory = None,
    progress: AskedProgress = False,
    *,
    with_cpts: bool = False,
) -> OpenRows:
    """The network that is meant and the data beside it; of the rows, only states that edges need.

    Parameters
    ----------
    function
        The name of the public function that was called, for its errors.
    with_cpts
        Whether the network of the rows keeps the CPTs that it brings: where they are asked of rows,
        not learned from them.
    """
    data = as_data(data)
    brought = network_beside(network, data, function)
    data = with_waves(data, brought.variables)
    before = brought if with_cpts else brought.with_tables(None)
    return OpenRows(
        brought=brought,
        network=with_data_codes(before, data),
        data=data,
        budget=memory_budget(memory),
        progress=as_progress(progress),
        before=before,
    )
