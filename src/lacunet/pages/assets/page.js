"use strict";
// What the scripts of all pages share: the data that the page carries, elements made from text,
// parts of drawings, and files to save. Names reach the page only as text, never as markup.
const page = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const byId = id => document.getElementById(id);
  const data = JSON.parse(byId("page-data").textContent);

  function make(tag, attributes = {}, ...inside) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "on") for (const [event, action] of Object.entries(value)) element.addEventListener(event, action);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== false && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...inside);
    return element;
  }
  function draw(tag, attributes = {}, ...inside) {
    const element = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  }
  const name = text => make("bdi", {}, text);
  const textWidth = text => Math.min(Math.max(7.2 * [...text].length + 36, 70), 250);
  const shortened = text => [...text].length > 28 ? [...text].slice(0, 27).join("") + "…" : text;
  function curve(points) {
    let path = `M${points[0].x},${points[0].y}`;
    for (let i = 1; i < points.length - 1; i++) {
      const next = i === points.length - 2 ? points[i + 1]
        : { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
      path += `Q${points[i].x},${points[i].y} ${next.x},${next.y}`;
    }
    return points.length === 2 ? path + `L${points[1].x},${points[1].y}` : path;
  }
  function arrowheads() {
    const heads = ["", "cause"].map(kind => draw("marker", { id: "head" + kind, viewBox: "0 0 8 8", refX: 7, refY: 4,
      markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse" }, draw("path", { d: "M0,0L8,4L0,8z", class: "arrow " + kind })));
    return draw("defs", {}, ...heads);
  }
  // A layered layout of some variables, and of the mechanisms that hide them.
  function layout(shown, nodeText, withMechanisms = true) {
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: "TB", nodesep: 14, ranksep: 38, marginx: 10, marginy: 10 });
    graph.setDefaultEdgeLabel(() => ({}));
    shown.forEach(i => graph.setNode("v" + i, { width: textWidth(nodeText(i)), height: 30 }));
    shown.forEach(i => data.variables[i].parents.forEach(p => shown.has(p) && graph.setEdge("v" + p, "v" + i)));
    const mechanisms = withMechanisms ? data.mechanisms.filter(m => shown.has(m.variable)) : [];
    mechanisms.forEach(m => graph.setNode("r" + m.variable, { width: textWidth(mechanismText(m.variable)), height: 24 }));
    mechanisms.forEach(m => m.causes.forEach(c => graph.hasNode(c) && graph.setEdge(c, "r" + m.variable)));
    dagre.layout(graph);
    return graph;
  }
  const mechanismText = i => `R[${shortened(data.variables[i].name)}]`;
  function rim(box, toward) {
    const dx = toward.x - box.x, dy = toward.y - box.y;
    const share = Math.min(box.width / 2 / Math.abs(dx || 1e-9), box.height / 2 / Math.abs(dy || 1e-9), 1);
    return { x: box.x + dx * share, y: box.y + dy * share };
  }
  function drawGraph(graph, variableNode) {
    const width = Math.max(graph.graph().width, 60), height = Math.max(graph.graph().height, 60);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "the network" }, arrowheads());
    for (const edge of graph.edges()) {
      const kind = edge.w[0] === "r" ? "cause" : "";
      svg.append(draw("path", { d: curve(graph.edge(edge).points), class: "edge " + kind, "marker-end": `url(#head${kind})` }));
    }
    for (const [from, to] of data.hidden_causes) if (graph.hasNode(from) && graph.hasNode(to)) {
      const ends = [graph.node(from), graph.node(to)];
      const middle = { x: (ends[0].x + ends[1].x) / 2 + 40, y: (ends[0].y + ends[1].y) / 2 };
      const [a, b] = ends.map(box => rim(box, middle));
      svg.append(draw("path", { d: `M${a.x},${a.y}Q${middle.x},${middle.y} ${b.x},${b.y}`,
        class: "edge cause", "marker-end": "url(#headcause)", "marker-start": "url(#headcause)" }));
    }
    for (const key of graph.nodes()) {
      const box = graph.node(key), i = Number(key.slice(1));
      svg.append(key[0] === "v" ? variableNode(i, box)
        : draw("g", { class: "node mechanism", transform: `translate(${box.x - box.width / 2},${box.y - box.height / 2})` },
          draw("rect", { width: box.width, height: box.height }),
          draw("text", { x: box.width / 2, y: 16, "text-anchor": "middle" }, mechanismText(i))));
    }
    return { svg, graph, width, height };
  }
  function save(file, text, type) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = make("a", { href: address, download: file });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
  document.querySelectorAll("[data-save]").forEach(button => button.addEventListener("click",
    () => save(button.dataset.save, JSON.stringify(data, null, 1) + "\n", "application/json")));
  document.querySelectorAll(".scripted").forEach(element => { element.hidden = false; });
  return { data, make, draw, name, shortened, layout, drawGraph, byId, save };
})();
