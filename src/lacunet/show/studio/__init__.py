"""The studio: a local page on which a table becomes an answer, and the code that does the same.

Read in this order: `project` (what the user has said, as one value), `folder` (the files that may
be seen), `offered_examples` (bundled tables for an empty one), `sketch` (a network and its
mechanisms as one text, and the verdicts on them), `file_proposals` and `column_proposals` (what a
file and its columns seem to hold), `commands` (a project as shell commands and as Python), `runs`
(these commands, run in a process of their own), `learned_summary` (what they learned), `server`
(who may ask what), `studio_page` (the page itself; what runs in it is
``show/pages/assets/studio.js``).

There is no second way: learning, diagnosing and drawing pages are the commands that the studio
exports. Here are only what must answer while the user draws, and the door.
"""
