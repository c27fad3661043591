"""Panels: networks that are the same wave by wave, written once as a template.

.. code-block:: text

    Z -> H[t]; H[t-1] -> H[t]; H[t] -> S[t]

``H[t]`` is H in any wave, ``H[t-1]`` the same one wave before, ``H[0]`` H in wave 0, and Z, without
an index, the same in all waves. Unrolled over the waves 0, 1 and 2 this is a network of Z, H[0],
S[0], H[1], ..., in which the CPTs of H[1] and H[2] are one, and so are those of S[0], S[1], S[2].
H[0] has fewer parents, and a CPT of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from lacunet.network.edges import Edges, EdgesError
from lacunet.network.errors import NetworkError
from lacunet.network.network import Network, Scope
from lacunet.text import counted, listed

MOST_WAVES = 10_000
INDEXED = re.compile(r"(.+)\[\s*(?:(t)\s*(?:([+-])\s*(\d+))?|(-?\d+))\s*\]", re.DOTALL)


class InTime(NamedTuple):
    """A variable, and its place in time: so many waves before t, or in one wave.

    A variable that is the same in all waves has neither.
    """

    name: str
    lag: int | None = None  # waves before t, below zero after it
    wave: int | None = None

    def in_wave(self, wave: int) -> str:
        """The name of the variable that is meant where t is a wave."""
        if self.lag is not None:
            return wave_name(self.name, wave - self.lag)
        return self.name if self.wave is None else wave_name(self.name, self.wave)

    def __str__(self) -> str:
        if self.lag is None:
            return self.name if self.wave is None else wave_name(self.name, self.wave)
        shift = f"{-self.lag:+d}" if self.lag else ""
        return f"{self.name}[t{shift}]"


def wave_name(name: str, wave: int) -> str:
    """A variable in one wave, as networks name it.

    >>> wave_name("H", 5)
    'H[5]'
    """
    return f"{name}[{wave}]"


def in_time(text: str) -> InTime:
    """The variable and the place in time that a name says.

    Examples
    --------
    >>> in_time("H[t-1]"), in_time("H[3]")
    (InTime(name='H', lag=1, wave=None), InTime(name='H', lag=None, wave=3))
    >>> in_time("Z")
    InTime(name='Z', lag=None, wave=None)
    """
    match = INDEXED.fullmatch(text)
    if match is None:
        return InTime(text)
    name, is_any, sign, shift, wave = match.groups()
    if not is_any:
        return InTime(name, wave=int(wave))
    waves = int(shift or 0)
    return InTime(name, lag=waves if sign != "+" else -waves)


def is_template(names: Iterable[str]) -> bool:
    """Whether some name has the index t."""
    return any(in_time(name).lag is not None for name in names)


def unrolled_edges(edges: Edges, waves: range) -> tuple[Edges, list[Scope]]:
    """The edges of a template over all waves, and which variables have one CPT.

    Parents from before the first wave are left out, and such variables have a CPT of their own.

    Raises
    ------
    EdgesError
        An arrow goes back in time.

    Examples
    --------
    >>> from lacunet.network.edges import edges_of
    >>> every, tied = unrolled_edges(edges_of("H[t-1] -> H[t] -> S[t]"), range(3))
    >>> every.parents_of["H[2]"], tied
    (('H[1]',), [('S[0]', 'S[1]', 'S[2]'), ('H[1]', 'H[2]')])
    """
    template = _in_wave_t(edges)
    _check_waves(template, waves)
    known = {node.in_wave(wave) for wave in waves for node in template}
    # A set that keeps its order. A variable that is the same in all waves comes up in each.
    variables: dict[str, None] = {}
    parents_of: dict[str, Scope] = {}
    # The variables that are one in the template and have the same of its parents: one CPT.
    alike: dict[tuple[InTime, tuple[InTime, ...]], list[str]] = {}
    for wave in waves:
        for node, parents in template.items():
            name = node.in_wave(wave)
            present = _parents_in_wave(name, parents, wave, known)
            variables[name] = None
            parents_of[name] = tuple(dict.fromkeys((*parents_of.get(name, ()), *present)))
            if node.lag is not None:
                alike.setdefault((node, tuple(present.values())), []).append(name)
    # What is drawn for one wave alone has other parents there.
    of_one_wave = {node.in_wave(wave) for wave in waves for node in template if node.lag is None}
    groups = [tuple(name for name in group if name not in of_one_wave) for group in alike.values()]
    tied = [group for group in groups if len(group) > 1]
    kept = {name: parents for name, parents in parents_of.items() if parents}
    return Edges(tuple(variables), kept), tied


def _parents_in_wave(
    name: str, parents: Sequence[InTime], wave: int, known: Collection[str]
) -> dict[str, InTime]:
    """The parents that a variable has in a wave, each with what the template calls it."""
    present: dict[str, InTime] = {}
    for parent in parents:
        parent_name = parent.in_wave(wave)
        # One wave of a variable is a parent of later ones alone.
        is_before = parent.wave is None or (parent_name != name and parent.wave <= wave)
        if parent_name in known and is_before:
            present.setdefault(parent_name, parent)
    return present


def _check_waves(template: Mapping[InTime, Sequence[InTime]], waves: range) -> None:
    """Refuse a variable in a wave that there is not, and a lag as long as the panel."""
    for node in template:
        if node.wave is not None and node.wave not in waves:
            raise EdgesError(
                f"{str(node)!r} is in none of the waves, which are {waves[0]} to {waves[-1]}.",
                "name a wave that the data show.",
            )
    for node, parents in template.items():
        for parent in parents:
            if parent.lag is not None and parent.lag >= len(waves):
                raise EdgesError(
                    f"{parent} -> {node} holds in none of the {counted(len(waves), 'wave')}.",
                    "a lag is shorter than the panel.",
                )


def _in_wave_t(edges: Edges) -> dict[InTime, list[InTime]]:
    """The parents of each variable of a template, each as it is seen from wave t."""
    _refuse_later_waves(edges)
    parents_of: dict[InTime, list[InTime]] = {
        _in_place(in_time(name)): [] for name in edges.variables
    }
    for child, parents in edges.parents_of.items():
        node = in_time(child)
        parents_of[_in_place(node)] += [_seen_from(node, in_time(parent)) for parent in parents]
    return parents_of


def _refuse_later_waves(edges: Edges) -> None:
    """Refuse names that stand after wave t: an arrow then has two ways to be written."""
    for name in edges.variables:
        node = in_time(name)
        if node.lag is not None and node.lag < 0:
            raise EdgesError(
                f"the edges name {str(node)!r}, a wave after t.",
                f"write the later of the two as {node.name}[t], and the parent with t-1: "
                f"{node.name}[t-1] -> {node.name}[t].",
            )


def _in_place(node: InTime) -> InTime:
    """The variable in wave t, where it stands in another by its distance from t."""
    return node if node.lag is None else node._replace(lag=0)


def _seen_from(child: InTime, parent: InTime) -> InTime:
    """A parent, once its child is moved to wave t."""
    if child.lag is None and parent.lag is not None:
        raise EdgesError(
            f"{parent} -> {child}: the parent is in any wave, the child is not.",
            "give both an index: H[t-1] -> H[t].",
        )
    moved = parent
    if child.lag is not None and parent.lag is not None:
        moved = parent._replace(lag=parent.lag - child.lag)
    is_later = moved.lag is not None and moved.lag < 0
    if child.wave is not None and parent.wave is not None:
        is_later = parent.wave > child.wave
    if is_later:
        raise EdgesError(
            f"{parent} -> {child} goes back in time.",
            "write the later of the two as t, and the other as t-1: H[t-1] -> H[t].",
        )
    return moved


def waves_of(network: Network) -> Mapping[str, Sequence[int]]:
    """The waves that each variable of a panel is in, in ascending order."""
    waves: dict[str, list[int]] = {}
    for node in map(in_time, network.variables):
        if node.wave is not None:
            waves.setdefault(node.name, []).append(node.wave)
    return {name: sorted(of_name) for name, of_name in waves.items()}


def waves_in_words(name: str, network: Network) -> str:
    """Where a variable of a panel is found, for a name that is none; empty for other names.

    >>> panel = Network({"H[0]": ["a", "b"], "H[1]": ["a", "b"]})
    >>> waves_in_words("H[4]", panel)
    'H goes from H[0] to H[1]; unroll(5) goes on to wave 4.'
    """
    node = in_time(name)
    waves = waves_of(network).get(node.name)
    if waves is None:
        return ""
    words = f"{node.name} goes from {wave_name(node.name, waves[0])} to "
    words += wave_name(node.name, waves[-1])
    if node.wave is not None and node.wave > waves[-1]:
        first = min(map(min, waves_of(network).values()))
        words += f"; unroll({node.wave - first + 1}) goes on to wave {node.wave}"
    return words + "."


def in_all_waves(names: Iterable[str], variables: Collection[str]) -> list[str]:
    """Variables by their names; a name that is no variable stands for itself in all waves.

    >>> in_all_waves(["Z", "H"], ["Z", "H[0]", "H[1]"])
    ['Z', 'H[0]', 'H[1]']
    """
    named: list[str] = []
    for name in names:
        waves = [variable for variable in variables if in_time(variable).name == name]
        named += [name] if name in variables or not waves else waves
    return named


def as_of_any_wave(text: str, variable: str) -> str:
    """A text about a variable in one wave, with all waves in it as seen from there.

    >>> as_of_any_wave("H[3] -> R[H[3]], as H[2] is", "H[3]")
    'H[t+0] -> R[H[t+0]], as H[t-1] is'
    """
    here = in_time(variable).wave
    if here is None:
        return text
    return re.sub(r"\[(-?\d+)\]", lambda wave: f"[t{int(wave[1]) - here:+d}]", text)


def untied(network: Network, tied: Mapping[str, bool]) -> Network:
    """The network in which some variables of a panel have a CPT of their own in each wave."""
    waves = waves_of(network)
    for name, is_tied in tied.items():
        if name not in waves or not isinstance(is_tied, bool):
            raise NetworkError(
                f"tied= says {is_tied!r} of {name!r}.",
                f"as a mapping it says of variables of a panel whether their CPTs are one in all "
                f"waves: tied={{'H': False}}. Such variables: {listed(waves) or 'none'}.",
            )
    free = {name for name, is_tied in tied.items() if not is_tied}
    return network.with_ties(group for group in network.tied if in_time(group[0]).name not in free)


def unroll(network: Network, waves: int) -> Network:
    """The network over so many waves, of which later ones are as the last.

    Raises
    ------
    NetworkError
        It is no panel, has more waves, or the CPT of the last wave is not that of an earlier one.
    """
    if not isinstance(waves, int) or isinstance(waves, bool):
        raise NetworkError(
            f"{waves!r} is no number of waves.", "unroll(12) gives twelve, from the first."
        )
    if waves > MOST_WAVES:
        raise NetworkError(f"{waves:,} waves are more than {MOST_WAVES:,}.")
    present = waves_of(network)
    if not present:
        raise NetworkError(
            "the network has no waves.",
            "a panel has some: learn('H[t-1] -> H[t]', Data('long.csv', unit='person', "
            "time='wave')).",
        )
    first = min(map(min, present.values()))
    last = max(map(max, present.values()))
    if waves < last - first + 1:
        raise NetworkError(
            f"the network has {counted(last - first + 1, 'wave')} already.",
            "give the number of all waves, those to come among them.",
        )
    further = range(last + 1, first + waves)
    parents_of = dict(network.parents_of)
    copied_of: dict[str, str] = {}  # for each new variable the one whose CPT it has
    for name in present if further else ():
        final = wave_name(name, last)
        fixed = _parents_in_all_waves(network, name, last)
        for wave in further:
            later = wave_name(name, wave)
            parents_of[later] = tuple(
                parent if parent in fixed else _moved(parent, wave - last)
                for parent in network.parents_of[final]
            )
            copied_of[later] = final
    return network.with_copies(parents_of, copied_of)


def _parents_in_all_waves(network: Network, name: str, last: int) -> set[str]:
    """The parents of a variable's last wave that do not move along with it.

    Those that another wave of it with the same CPT has in the same place.
    """
    final = wave_name(name, last)
    groups = [group for group in network.tied if final in group]
    if not groups:
        raise NetworkError(
            f"{name!r} has a CPT of its own in wave {last}: what comes later is not known.",
            "tie it to earlier waves, of which there must be one.",
        )
    other = next(member for member in groups[0] if member != final)
    pairs = zip(network.parents_of[final], network.parents_of[other], strict=True)
    return {parent for parent, of_other in pairs if parent == of_other}


def copied_from(network: Network, longer: Network) -> dict[str, str]:
    """For each variable of further waves the one in the last wave that it is a copy of."""
    waves = waves_of(network)
    new = [name for name in longer.variables if name not in network.states_of]
    bases = {name: in_time(name).name for name in new}
    return {name: wave_name(base, waves[base][-1]) for name, base in bases.items()}


def _moved(name: str, waves: int) -> str:
    """A variable so many waves later, or itself if it is the same in all waves."""
    node = in_time(name)
    if node.wave is None:
        return name
    return wave_name(node.name, node.wave + waves)
