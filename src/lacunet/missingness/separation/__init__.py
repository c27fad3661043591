"""What a missingness graph separates: `mixed` graphs, the `category`, `separator` sets."""
