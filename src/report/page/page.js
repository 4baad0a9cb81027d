// Brings the page to life: charts when they come near, tables when they are opened, themes, print.
"use strict";

const FIGURES = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const darkAsked = window.matchMedia("(prefers-color-scheme: dark)");
/** What each chart shows now, by its place. */
const shown = new Map();
let printing = false;

function theme() {
  if (printing) return "light";
  return root.dataset.theme ?? (darkAsked.matches ? "dark" : "light");
}

/** An element with a text. */
function element(tag, text, properties = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  made.textContent = text;
  return made;
}

// --- charts ------------------------------------------------------------------------------------

function stateOf(place) {
  const key = place.closest("figure").dataset.figure;
  if (!shown.has(key)) {
    const figure = FIGURES[key];
    const whole = { x: wholeRange(figure.x), y: wholeRange(figure.y) };
    shown.set(key, { figure, whole, ranges: whole, hidden: new Set(), drawn: false });
  }
  return shown.get(key);
}

/** Takes what labels say from the table: its head, and each series' rows. */
function readTexts(place, figure) {
  const table = place.closest("figure").querySelector("table");
  const texts = (row) => [...row.cells].map((cell) => cell.textContent);
  const rows = [...table.tBodies[0].rows].map(texts);
  figure.head = texts(table.tHead.rows[0]);
  for (const series of figure.series) series.rows = rows.splice(0, series.x.length);
}

function content(place, state) {
  const { width, height } = place.getBoundingClientRect();
  Object.assign(state, { width, height });
  return chart(state.figure, { ...state, theme: theme() });
}

function draw(place) {
  const state = stateOf(place);
  if (state.drawn) return;
  state.drawn = true;
  readTexts(place, state.figure);
  const { data, layout } = content(place, state);
  Plotly.newPlot(place, data, layout, {
    displayModeBar: false, doubleClick: "reset", showTips: false,
  });
  place.on("plotly_relayout", (change) => follow(place, state, change));
  resized.observe(place);
  place.dataset.drawn = "true";
}

/** Draws it again in place, after its theme or what it shows has changed. */
function redraw(place) {
  const state = stateOf(place);
  if (!state.drawn) return;
  const { data, layout } = content(place, state);
  if (printing) Object.assign(layout, { width: 660, height: 360 });
  Plotly.react(place, data, layout);
}

/** Charts grow and shrink with the page, and their ticks with them. */
const resized = new ResizeObserver((entries) => {
  for (const { target, contentRect: { width, height } } of entries) {
    const state = stateOf(target);
    if (printing || width === 0 || (state.width === width && state.height === height)) continue;
    Object.assign(state, { width, height });
    Plotly.Plots.resize(target).then(() => fit(target, state));
  }
});

/** Keeps what the reader zoomed to, and fits the ticks to it. */
function follow(place, state, change) {
  if (Object.keys(change).some((key) => key.includes("range"))) fit(place, state);
}

/** What is in view lies within the whole, and has ticks. */
function fit(place, state) {
  const { figure } = state;
  const { width, height } = place.getBoundingClientRect();
  const seen = { x: place.layout.xaxis.range, y: place.layout.yaxis.range };
  const [x, y] = [bounded(figure.x, seen.x), bounded(figure.y, seen.y)];
  state.ranges = { x, y };
  const [across, up] = [
    ticks(figure.x, x, roomX(width, figure.x), nameRoom(figure.x, width)), ticks(figure.y, y, roomY(height)),
  ];
  const change = {
    "xaxis.tickvals": across.tickvals, "xaxis.ticktext": across.ticktext,
    "yaxis.tickvals": up.tickvals, "yaxis.ticktext": up.ticktext,
  };
  const strays = ([from, to], [low, high]) => Math.abs(from - low) + Math.abs(to - high) > (to - from) * 1e-6;
  if (strays(x, seen.x)) change["xaxis.range"] = [...x];
  if (strays(y, seen.y)) change["yaxis.range"] = [...y];
  Plotly.relayout(place, change);
}

/** Shows these parts of the axes, or the nearest there are. */
function show(place, { x, y }) {
  draw(place);
  const state = stateOf(place);
  // At once, for the next press of a button may come before plotly is done.
  state.ranges = { x: bounded(state.figure.x, x), y: bounded(state.figure.y, y) };
  Plotly.relayout(place, { "xaxis.range": [...state.ranges.x], "yaxis.range": [...state.ranges.y] });
}

/** Shows so many times as much of each axis that can be zoomed, around its middle. */
function zoom(place, times) {
  const { figure, ranges } = stateOf(place);
  const around = ([low, high]) => {
    // Bars stand on nothing, and nothing lies below it.
    const keep = low === 0 && (hasBars(figure) || times > 1) ? low : (low + high) / 2;
    return [keep + (low - keep) * times, keep + (high - keep) * times];
  };
  show(place, { x: around(ranges.x), y: around(ranges.y) });
}

/** Looks further along an axis, by this share of what is in view. */
function move(place, which, share) {
  const { ranges } = stateOf(place);
  const [from, to] = ranges[which];
  show(place, { ...ranges, [which]: [from, to].map((end) => end + (to - from) * share) });
}

const reset = (place) => show(place, stateOf(place).whole);

/** The chart as it is seen, with its title and a legend, for a file. */
function picture(place, { width, height }) {
  draw(place);
  const state = stateOf(place);
  const { data, layout } = chart(state.figure, { ...state, theme: theme(), width, height });
  const names = new Set();
  for (const [at, { name }] of state.figure.series.entries()) {
    data[at].showlegend = !names.has(name) && data[at].type !== "heatmap";
    names.add(name);
  }
  layout.title = { text: unmarked(state.figure.title), x: 0.01, xanchor: "left", font: { size: 20 } };
  Object.assign(layout, { showlegend: names.size > 1, legend: { orientation: "h", y: -0.15 } });
  layout.margin = { ...layout.margin, t: 84, l: 20, r: 30 };
  return { data, layout };
}

async function save(place) {
  const size = { width: 1200, height: 700 };
  const address = await Plotly.toImage(picture(place, size), { format: "png", ...size, scale: 2 });
  element("a", "", { href: address, download: `${stateOf(place).figure.key}.png` }).click();
}

// --- what stands around a chart ----------------------------------------------------------------

function addControls(figure, place) {
  const bar = element("div", "", { className: "controls" });
  const { title, x, y } = FIGURES[figure.dataset.figure];
  const along = (axis, actions) => (axis.scale === "named" ? [] : actions);
  const actions = [
    ["Zoom in", () => zoom(place, 0.5)], ["Zoom out", () => zoom(place, 2)],
    ...along(x, [["Left", () => move(place, "x", -0.5), "←"], ["Right", () => move(place, "x", 0.5), "→"]]),
    ...along(y, [["Down", () => move(place, "y", -0.5), "↓"], ["Up", () => move(place, "y", 0.5), "↑"]]),
    ["Reset", () => reset(place)], ["Save PNG", () => save(place)],
  ];
  for (const [name, act, sign] of actions) {
    const button = element("button", sign ?? name, { type: "button", title: sign ? name : "" });
    button.setAttribute("aria-label", `${name}: ${title}`);
    button.addEventListener("click", act);
    bar.append(button);
  }
  figure.querySelector("figcaption").after(bar);
}

/** A sample of how something is drawn. */
function sample(look, colour, turn) {
  const marks = ["●", "◆", "■", "▲", "▼"];
  const text = look === "markers" ? marks[turn % marks.length] : "";
  const box = element("span", text, { className: `sample ${look}` });
  box.setAttribute("aria-hidden", "true");
  if (colour) {
    box.style.setProperty("--light", colour[0]);
    box.style.setProperty("--dark", colour[1]);
  }
  if (isLine(look) && turn > 0) box.classList.add(`dash-${turn % DASHES.length}`);
  if (look === "bars" && turn > 0) {
    box.classList.add("again");
    box.style.setProperty("--share", `${100 * fillOf(turn)}%`);
  }
  return box;
}

/** Names to show and hide, and, where points of a name are several things, how each is drawn. */
function addLegend(legend, place) {
  const { figure, hidden } = stateOf(place);
  const drawn = figure.series.filter(({ look }) => look !== "cells");
  const names = [...new Set(drawn.map(({ name }) => name))];
  for (const name of names) {
    const own = drawn.filter((series) => series.name === name);
    const { look, colour, pattern, again } = own.find((one) => !["band", "raw", "law"].includes(one.look)) ?? own[0];
    const kind = look === "bars" || (again && look === "markers") ? look : "curve";
    const item = element(names.length > 1 ? "button" : "span", "", { className: "name" });
    item.append(sample(kind, colour, again ? pattern : 0), name);
    if (names.length > 1) {
      item.type = "button";
      item.setAttribute("aria-pressed", "true");
      item.addEventListener("click", () => {
        const isHidden = hidden.delete(name);
        if (!isHidden) hidden.add(name);
        item.setAttribute("aria-pressed", String(isHidden));
        draw(place);
        redraw(place);
      });
    }
    legend.append(item);
  }
  addKinds(legend, figure, drawn);
}

function addKinds(legend, figure, drawn) {
  const kinds = new Map(drawn.map(({ look, what }) => [`${look} ${what}`, { look, what }]));
  if (kinds.size > 1) {
    for (const { look, what } of kinds.values()) {
      const kind = element("span", "", { className: "kind" });
      const drawnAs = look === "raw" && hasBars(figure) ? "raw ring" : look;
      kind.append(sample(drawnAs, null, turnOf(figure, { look, what })), what);
      legend.append(kind);
    }
  }
  if (drawn.some(({ disturbed }) => disturbed.length > 0)) {
    const how = hasBars(figure) ? "hatched" : "hollow";
    legend.append(element("span", `${how}: something disturbed it`, { className: "kind" }));
  }
}

// --- the page ----------------------------------------------------------------------------------

const places = [...document.querySelectorAll(".chart")];
const drawAll = () => places.forEach(draw);
const redrawAll = () => places.forEach(redraw);

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting) {
      near.unobserve(target);
      draw(target);
    }
  }
}, { rootMargin: "300px" });

for (const place of places) {
  const figure = place.closest("figure");
  addControls(figure, place);
  addLegend(figure.querySelector(".legend"), place);
  near.observe(place);
}

const themeButton = document.getElementById("theme");
function nameTheme() {
  themeButton.textContent = theme() === "dark" ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `${themeButton.textContent} colours`);
}
themeButton.hidden = false;
themeButton.addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  nameTheme();
  redrawAll();
});
darkAsked.addEventListener("change", () => {
  nameTheme();
  redrawAll();
});
nameTheme();

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  const pre = button.parentElement.querySelector("pre");
  button.setAttribute("aria-label", `Copy: ${pre.getAttribute("aria-label")}`);
  button.addEventListener("click", async () => {
    let copied = true;
    try {
      await navigator.clipboard.writeText(pre.textContent);
    } catch {
      getSelection().selectAllChildren(pre);
      copied = document.execCommand("copy");
    }
    button.textContent = copied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

const opened = [];
window.addEventListener("beforeprint", () => {
  printing = true;
  for (const details of document.querySelectorAll("details.printed:not([open])")) {
    details.open = true;
    opened.push(details);
  }
  drawAll();
  redrawAll();
});
window.addEventListener("afterprint", () => {
  printing = false;
  opened.splice(0).forEach((details) => { details.open = false; });
  redrawAll();
});
