"""What a CPT may be other than a full table: fewer parameters, learned from the same counts.

Read `shape` first, which says what a shape does; then one file per shape, with its formula at the
top: `noisy_or` and `noisy_max` (causes that act by themselves), `logistic` and `ordinal` (main
effects of parents), `fixed` (a table that is known), `full_table`. `main_effects` is
what a sum over parents costs, `newton` finds the maximum, `absent` which state is that of no
effect; `shape_names` is where shapes are looked up.
"""
