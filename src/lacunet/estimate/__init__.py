"""How CPTs are learned: `learn` is the road itself, plan, count, estimate.

`method` says what every method takes and gives, `families` what is said of a CPT, `cpts` makes
every CPT and its report, `options` and `asked_prior` check what users ask for.
`deletion/` are the closed forms, `em/` the iteration, `auto` chooses, `mgraph` follows a
missingness graph. `registry` knows them by name; `explain` prints a plan; `intervals` says how
sure. The help text of a method's option stands beside the option, in the method's class.
"""
