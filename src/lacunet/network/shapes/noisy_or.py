r"""Noisy-OR: each cause alone would bring the effect about, with a probability of its own.

.. math::
    P(\text{absent} \mid u) = (1 - p_0) \prod_{i : u_i \text{ present}} (1 - p_i)

:math:`p_i` is the *link probability* of a cause, :math:`p_0` the *leak*: how often the effect is
there without any (J. Pearl, 1988; M. Henrion, 1989). It has one parameter per cause where a table
has one per set of causes. With :math:`\delta_i = -\log (1 - p_i) \ge 0` the log-likelihood is
concave. It is the noisy-MAX of a child with two states (`noisy_max`, which has the fit).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lacunet.network.arguments import clear_arguments
from lacunet.network.errors import NetworkError
from lacunet.network.shapes.absent import absent_index, check_absent
from lacunet.network.shapes.main_effects import check_table_rows
from lacunet.network.shapes.noisy_max import independent_causes
from lacunet.network.shapes.shape import Shaped, StatesOfAxes


@clear_arguments
@dataclass(frozen=True)
class NoisyOr:
    """A CPT whose parents are causes: each alone would bring the effect about.

    The child and its causes have two states. The one that means "absent" is known by its word (no,
    false, absent, 0, none, normal, negative, off), never by its position, or said here. Causes that
    are no parents are the leak.

    Parameters
    ----------
    absent
        For variables whose states do not say so themselves, the one that means "absent".

    Examples
    --------
    >>> import lacunet as lc
    >>> fever = lc.Network(
    ...     {"Flu": ["low", "high"], "Fever": ["no", "yes"]}, {"Fever": ["Flu"]}
    ... )
    >>> fever.with_shapes({"Fever": lc.NoisyOr(absent={"Flu": "low"})}).free_parameters
    3
    """

    absent: Mapping[str, str] = field(default_factory=dict)
    name = "noisy-or"

    def __post_init__(self) -> None:
        check_absent("NoisyOr", self.absent)

    def of(self, variable: str, parents: tuple[str, ...], states: StatesOfAxes) -> Shaped:
        """The same for the CPT of a variable."""
        check_table_rows(self.name, variable, states)
        for axis, of_axis in zip((variable, *parents), (states[-1], *states[:-1]), strict=True):
            if len(of_axis) != 2:
                raise NetworkError(
                    f"the CPT of {variable!r} cannot be 'noisy-or': {axis!r} has {len(of_axis)} "
                    f"states, {list(of_axis)}, and the child and all causes must have two.",
                    f'take shapes={{"{variable}": "noisy-max"}}, for more states.',
                )
        child = absent_index("NoisyOr", variable, states[-1], self.absent, variable)
        return independent_causes(
            name="NoisyOr",
            absent=self.absent,
            variable=variable,
            parents=parents,
            states=states,
            child=child,
        )

    def __str__(self) -> str:
        return self.name
