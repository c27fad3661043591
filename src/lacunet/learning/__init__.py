"""How CPTs are learned: `learn` is the road itself, plan, count, estimate.

`plan` says what every method takes and gives, `cpt_rows` is where counts become CPTs,
`family_reports` what is said of a CPT, `cpts` makes every CPT and its report, `method_options` and
`pseudo_count_arguments` check what users ask for. `closed_forms/` are the estimators by counts,
`em/` the iteration, `auto` chooses, `mgraph` follows a missingness graph by `recovery`. `methods`
knows them by name; `explain` prints a plan; `interval_recipes` says how sure, by what is in
`uncertainty/`. A `result` is what comes out, `result_json` its file. `count_rows` counts now, to
learn later. The help text of a method's option stands beside the option, in the method's class.
"""
