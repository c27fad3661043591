"use strict";
// A drawing alone: the graph with its mechanisms.
page.network.start().then(() => { document.documentElement.dataset.ready = "yes"; });
