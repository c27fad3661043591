"""How good a network is: `divergence` from the truth, then `evaluation` as a whole."""
