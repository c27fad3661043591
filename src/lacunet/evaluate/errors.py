"""What cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable

from lacunet.errors import LacunetError


class ComparisonError(LacunetError):
    """Two networks do not speak of the same thing."""

    @classmethod
    def variables(cls, truth_only: Iterable[str], learned_only: Iterable[str]) -> ComparisonError:
        return cls(
            "the networks have different variables: "
            f"only the true one has {sorted(truth_only)}, "
            f"only the learned one has {sorted(learned_only)}."
        )

    @classmethod
    def states(cls, variable: str, truth: Iterable[str], learned: Iterable[str]) -> ComparisonError:
        return cls(
            f"variable {variable!r} has the states {list(truth)} in the true network, "
            f"but {list(learned)} in the learned one."
        )
