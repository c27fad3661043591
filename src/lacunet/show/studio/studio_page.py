"""The page of the studio: six steps, from a table to the code. What runs is ``studio.js``."""

from __future__ import annotations

from html import escape

from lacunet.show.pages.kit import document

PAGE_STEPS = {
    "Table": """
<p class="soft">Tables below <bdi id="folder"></bdi>: .csv, .tsv, .parquet, .arrow, .feather.</p>
<div class="bar"><label>table <select id="file"></select></label>
<label id="drop"><span class="by-mouse">or drop a file here,</span> or choose one
<input id="upload" type="file" accept=".csv,.tsv,.gz,.parquet,.arrow,.feather"></label></div>
<p class="warning" id="no-tables" hidden>There is no table in this folder. Choose one
from elsewhere, start the studio in the folder of the data, or try an example; or
<a href="#graph">draw a graph</a> and see what could be recovered.</p>
<details id="examples-part"><summary>Try an example</summary><div id="examples"></div></details>
<details id="reading"><summary>How text files are written</summary><div class="bar">
<label>between cells <select id="delimiter"><option value="">as the name says</option>
<option value=",">comma</option><option value=";">semicolon</option><option value="\\t">tab</option>
<option value="|">bar</option></select></label>
<label>encoding <input id="encoding" size="8"></label>
<label>decimal <select id="decimal"><option>.</option><option>,</option></select></label>
</div></details>
<div id="table-facts" role="status"></div>
<div class="bar"><button type="button" class="go" data-go="states">Next: states</button></div>
""",
    "States": """
<p class="soft">Choose the columns that become variables, and say what their values mean. Numbers
with many values are cut: 4 (equally many rows in each), width:4 (equally wide) or 18,40,65,inf (cut
points).</p>
<div class="bar"><button type="button" id="use-all">use all that can be used</button>
<button type="button" id="use-none">use none</button>
<label>not observed, in all columns <input id="missing-anywhere" placeholder="such as 99" size="12">
</label></div>
<div class="wide" tabindex="0"><table id="columns"><thead><tr><th class="label" scope="col">use</th>
<th class="label" scope="col">column</th><th scope="col">missing</th>
<th class="label" scope="col">values</th><th class="label" scope="col">states</th>
<th class="label" scope="col">not observed</th><th class="label" scope="col">is</th></tr></thead>
<tbody></tbody></table></div>
<div id="rules"></div>
<div class="bar"><button type="button" id="find-skips">Find questions that were not asked</button>
<button type="button" id="diagnose">Test what missing values depend on</button>
<button type="button" class="go" data-go="graph">Next: graph</button></div>
<div id="diagnosed"></div>
""",
    "Graph": """
<div class="bar"><label>add a variable <input id="add-name" list="column-names" autocomplete="off">
</label><datalist id="column-names"></datalist><button type="button" id="add">add</button>
<label>draw <select id="kind"><option value="-&gt;">an arrow</option>
<option value="&lt;-&gt;">a hidden common cause</option></select></label>
<button type="button" id="remove" hidden></button>
<button type="button" id="turn" hidden>turn round</button>
<button type="button" id="structure">propose arrows from the data</button></div>
<p class="soft" id="hint" role="status"></p>
<div id="proposed"></div><div class="split"><div><div id="board"></div>
<div class="chips" id="edges"></div></div>
<div><label for="text">as text</label>
<textarea id="text" rows="9" spellcheck="false" autocomplete="off"></textarea>
<div id="verdicts"></div></div></div>
<pre class="warning" id="graph-error" role="status" hidden></pre>
<div class="bar"><button type="button" class="go" data-go="learn">Next: learn</button></div>
""",
    "Learn": """
<div class="bar"><label>method <select id="method"></select></label>
<label>pseudo-counts <select id="pseudo-counts-kind"><option value="">usual for the method</option>
<option value="learn">learned from the data</option>
<option value="number">a number</option></select>
</label><label id="pseudo-counts-number" hidden>rows added to each cell
<input id="pseudo-counts" type="number" min="0" step="any" size="5"></label>
<label><input id="has-intervals" type="checkbox"> intervals at
<input id="level" type="number" min="0.5" max="0.999" step="any" size="5"></label>
<label>random seed <input id="seed" type="number" min="0" step="1" size="5"></label></div>
<p class="soft" id="method-words"></p>
<div class="bar"><button type="button" id="explain">Show the plan</button>
<button type="button" id="learn-now" class="go">Learn</button></div>
<div id="job" role="status"></div><div id="planned"></div><div id="summary"></div>
<h3 id="runs-title" hidden>Results</h3><div id="runs"></div>
<div class="bar" id="beside-bar" hidden>
<button type="button" id="beside">Set two side by side</button></div>
""",
    "Ask": """
<p class="soft" id="ask-words"></p><div id="differences" hidden></div>
<div id="asking"><div id="answers" role="status" tabindex="0" aria-label="answers"></div>
<iframe id="asked-page" title="the page of the result"></iframe></div>
""",
    "Code": """
<p class="soft">These commands, and this Python, are those of <b id="of-run"></b>: run in the
folder of the studio, they give the numbers that it shows.</p>
<div class="bar" id="code-of-bar" hidden><label>code of <select id="code-of"></select></label></div>
<pre class="warning" id="code-note" hidden></pre>
<pre class="warning" id="code-error" hidden></pre>
<h3>Shell</h3><pre id="shell" tabindex="0"></pre>
<div class="bar"><button type="button" data-copy="shell">copy</button>
<button type="button" data-keep="shell" data-file="studio.sh">save studio.sh</button></div>
<h3>Python</h3><pre id="python" tabindex="0"></pre>
<div class="bar"><button type="button" data-copy="python">copy</button>
<button type="button" data-keep="python" data-file="studio.py">save studio.py</button></div>
<div id="methods-part" hidden><h3>For the methods section</h3><p id="methods"></p>
<div class="bar"><button type="button" data-copy="methods">copy</button></div></div>
<h3 id="files-of">Files</h3><div id="files"></div>
""",
}


def way_in_page(address: str) -> str:
    """A page that goes on to an address at once.

    >>> "http://127.0.0.1:8080/" in way_in_page("http://127.0.0.1:8080/")
    True
    """
    link = escape(address)
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="refresh" content="0;url={link}">',
            "<title>lacunet studio</title></head><body>",
            f'<p><a href="{link}">Open the studio</a></p>',
            "</body></html>\n",
        ]
    )


def studio_page(token: str) -> str:
    """The page, for the browser that has the token."""
    steps = sections = ""
    for number, (title, markup) in enumerate(PAGE_STEPS.items(), 1):
        key = title.lower()
        steps += f'<li><a href="#{key}" id="to-{key}"><b>{number}</b> {title}<span></span></a></li>'
        sections += f'<section id="{key}" hidden tabindex="-1"><h2>{title}</h2>{markup}</section>'
    body = [
        '<header><div class="title"><h1>lacunet studio</h1>',
        '<button type="button" id="undo" disabled>Undo</button>',
        '<button type="button" id="redo" disabled>Redo</button></div><nav aria-label="steps">',
        f'<ol class="steps">{steps}</ol></nav>',
        '<div class="bar" id="running" hidden><span id="running-words" role="status"></span>'
        '<progress id="running-bar"></progress><button type="button" id="cancel">Cancel</button>'
        '</div><p class="warning" id="strangers" role="status" hidden></p></header>',
        '<div id="trouble" hidden><pre class="warning" id="trouble-words" role="alert"></pre>',
        '<button type="button" id="trouble-close" aria-label="close this message">×</button></div>',
        "<noscript><p>The studio needs scripts.</p></noscript>",
        f"<main>{sections}</main>",
    ]
    return document(
        "lacunet studio",
        body,
        {"token": token, "variables": []},
        ("page.js", "studio.js"),
        styles=("studio.css",),
        allowed=("connect-src 'self'", "frame-src 'self'"),
    )
