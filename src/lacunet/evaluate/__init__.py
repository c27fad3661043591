"""KL divergence and likelihood."""
