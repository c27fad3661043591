"""The E-step: expected counts of compiled problems, exactly.

Read `steps` (those that eliminate a component), `messages` (equal sub-expressions once), `shards`
and `message_groups` (laid out in arrays), `expectation_plan` (within a budget), then `expect`, the
step itself; `draw` gives posteriors, draws and best completions.
"""
