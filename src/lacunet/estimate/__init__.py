"""How CPTs are learned: `learn` is the road itself, plan, count, estimate.

`method` says what every method takes and gives, `cpts` makes every CPT and its report.
`deletion/` are the closed forms, `em/` the iteration, `auto` chooses, `mgraph` follows a
missingness graph. `registry` knows them by name; `explain` prints a plan; `intervals` says how
sure. The help text of a method's option stands beside the option, in the method's class.
"""
