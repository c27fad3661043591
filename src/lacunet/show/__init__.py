"""Each result, for people (text), for programs (data) and in a browser (a page).

One place per kind of result: `results/` (of learning), `verdicts/`, `network_page` (a network as it
is, or two side by side), `diagnosis_page`, `evaluation_text`, `formula_text`, `simulation_text`,
`structure_text`; `plain_values` makes data of values. `pages/` is what every page is made of,
`figures/` what is drawn, `studio/` the whole work on a local page.
"""
