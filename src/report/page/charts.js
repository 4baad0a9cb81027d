// What plotly draws of a figure: traces, axes, and the places that findings tell of.
"use strict";

const PAPER = {
  light: { ink: "#1c2024", soft: "#59626d", grid: "#e8ebee", ground: "#ffffff", panel: "#ffffff" },
  dark: { ink: "#e8eaed", soft: "#a7b0ba", grid: "#2b3137", ground: "#15181b", panel: "#22272c" },
};

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const DASHES = ["solid", "dot", "dashdot", "longdash"];

const shadeOf = (colour, theme) => colour[theme === "dark" ? 1 : 0];

// What tells markers of one name apart: p50, then p99. The samples of a legend show the same.
const SYMBOLS = ["circle", "diamond", "square", "triangle-up", "triangle-down"];

/** Bars of few places grow no wider than this, in pixels. */
const BAR_WIDTH_MAX = 110;

/** How far aside a single value stands of others at its place, in widths of a bar. */
const aside = (at) => ((((at + 1) * 0.618033988749895) % 1) - 0.5) / 2;

/** `#rrggbb` let through by so much. */
function thin(colour, share) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return `rgba(${parts.join(",")},${share})`;
}

const isLine = (look) => look === "line" || look === "curve";

/** How much of the colour fills a bar of a name whose colour another had before: it has an outline. */
const fillOf = (pattern) => 0.75 / (pattern + 1);

/** Which of the things that are drawn in its way a series tells. */
function turnOf(figure, { look, what }) {
  const same = figure.series.filter((series) => series.look === look).map((series) => series.what);
  return [...new Set(same)].indexOf(what);
}

/** How much narrower than there is room for bars are, where they would be very wide. */
function narrowing(figure, width) {
  if (figure.x.scale !== "named") return 1;
  const widest = Math.max(...figure.series.map((series) => series.width));
  const pixels = (widest * (width - 90)) / Math.max(1, figure.x.names.length);
  return Math.min(1, BAR_WIDTH_MAX / Math.max(1, pixels));
}

/** The lines of a label: the cells of the point's row in the table, but for name and what. */
function hoverTexts(figure, series) {
  const heads = figure.head.slice(2);
  const disturbed = new Set(series.disturbed);
  const lead = `<b>${unmarked(series.name)}</b> ${unmarked(series.what)}`;
  return series.rows.map((row, at) => {
    const cells = row.slice(2);
    const lines = cells.map((cell, n) => `${unmarked(heads[n])}: ${unmarked(cell)}`);
    if (disturbed.has(at)) lines.push("something disturbed a measurement of it");
    return [lead, ...lines.filter((_, n) => cells[n] !== "")].join("<br>");
  });
}

function whiskers(series, colour) {
  if (!series.low) return undefined;
  const ends = (of) => series.y.map((y, at) => (of[at] === null ? 0 : Math.abs(of[at] - y)));
  return {
    type: "data", symmetric: false, array: ends(series.high), arrayminus: ends(series.low),
    color: colour, thickness: 1.5, width: 4,
  };
}

function trace(figure, series, theme, pageWidth) {
  const colour = shadeOf(series.colour, theme);
  const factor = narrowing(figure, pageWidth);
  const [shift, width] = [series.shift * factor, series.width * factor];
  const onBars = series.look === "raw" && hasBars(figure);
  const common = {
    name: unmarked(series.name), x: series.x.map((x, at) => x + shift + (onBars ? aside(at) * width : 0)), y: series.y, hoverinfo: "text",
    hovertext: hoverTexts(figure, series),
    hoverlabel: { bordercolor: colour },
  };
  const hollow = new Set(series.disturbed);
  const own = series.look === "markers" || series.again ? SYMBOLS[series.pattern % SYMBOLS.length] : "circle";
  const symbol = series.x.map((_, at) => (hollow.has(at) ? `${own}-open` : own));
  const dash = DASHES[series.pattern % DASHES.length];
  const fill = series.again ? thin(colour, fillOf(series.pattern)) : colour;
  const looks = {
    bars: () => ({
      type: "bar", x: series.x, offset: shift - width / 2, width,
      error_y: whiskers(series, PAPER[theme].ink),
      marker: { color: fill, line: { color: colour, width: series.again ? 2 : 0 }, pattern: { shape: series.x.map((_, at) => (hollow.has(at) ? "/" : "")) } },
    }),
    markers: () => ({
      type: "scatter", mode: "markers", marker: { color: colour, size: 8, symbol },
      error_y: whiskers(series, colour),
    }),
    line: () => ({
      type: "scatter", mode: "lines+markers", cliponaxis: false, line: { color: colour, width: 2, dash },
      marker: { color: colour, size: 7, symbol }, error_y: whiskers(series, colour),
    }),
    curve: () => ({ type: "scatter", mode: "lines", line: { color: colour, width: 1.75, dash } }),
    law: () => ({ type: "scatter", mode: "lines", line: { color: colour, width: 2, dash: series.again ? "longdashdot" : "dash" } }),
    raw: () => ({
      type: "scatter", mode: "markers",
      marker: onBars
        ? { color: PAPER[theme].ground, size: 6, line: { color: PAPER[theme].ink, width: 1 } }
        : { color: colour, size: 5, opacity: 0.55, symbol },
    }),
    band: () => band(figure, series, colour, common.hovertext),
    cells: () => cells(figure, series.rectangles, common.hovertext),
  };
  return { ...common, ...looks[series.look]() };
}

/** There along the lower ends of the intervals and back along the upper ones. */
function band(figure, series, colour, texts) {
  const others = figure.series.filter(({ look }) => look === "band").length;
  const there = series.x.map((_, at) => at).filter((at) => series.low && series.low[at] !== null);
  const back = [...there].reverse();
  return {
    type: "scatter", mode: "lines", fill: "toself", fillcolor: thin(colour, others > 2 ? 0.12 : 0.2),
    line: { color: colour, width: 0 }, hoveron: "points",
    x: [...there, ...back].map((at) => series.x[at]),
    y: [...there.map((at) => series.low[at]), ...back.map((at) => series.high[at])],
    hovertext: [...there, ...back].map((at) => texts[at]),
  };
}

/** Rectangles on a grid of all their ends. */
function cells(figure, { left, right, bottom, top, shade, point }, texts) {
  const ends = (...sides) => [...new Set(sides.flat())].sort((a, b) => a - b);
  const grid = [ends(left, right), ends(bottom, top)];
  const [column, row] = grid.map((places) => new Map(places.map((place, at) => [place, at])));
  const empty = () => grid[1].slice(1).map(() => grid[0].slice(1).map(() => null));
  const [z, hovertext] = [empty(), empty()];
  const log = figure.shade?.scale === "log";
  for (const at of shade.keys()) {
    const [from, to] = [column.get(left[at]), column.get(right[at])];
    for (let line = row.get(bottom[at]); line < row.get(top[at]); line += 1) {
      z[line].fill(log ? Math.log10(shade[at]) : shade[at], from, to);
      hovertext[line].fill(texts[point[at]], from, to);
    }
  }
  return { type: "heatmap", x: grid[0], y: grid[1], z, hovertext, coloraxis: "coloraxis", hoverongaps: false };
}

/** One scale of colours for all cells of a figure; none without cells. Much stands out from the ground. */
function shadeScale(figure, theme) {
  if (!figure.shade) return undefined;
  const [low, high] = wholeRange(figure.shade);
  const colours = theme === "dark" ? [...figure.shades].reverse() : figure.shades;
  const { tickvals, ticktext } = ticks(figure.shade, [low, high], 6);
  return {
    cmin: low, cmax: high, colorscale: colours.map((colour, at) => [at / (colours.length - 1), colour]),
    colorbar: {
      thickness: 12, outlinewidth: 0, tickfont: { size: 12 }, tickmode: "array", ticktext,
      tickvals: figure.shade.scale === "log" ? tickvals.map(Math.log10) : tickvals,
      title: { text: unmarked(figure.shade.label), side: "right", font: { size: 13 } },
    },
  };
}

/** What an axis shows at first, on the scale of its positions. */
function wholeRange({ range, scale }) {
  return scale === "log" ? range.map(Math.log10) : [...range];
}

/** How little around a place can be in view, on the scale of positions: ticks must tell places apart. */
function narrowest(axis, middle) {
  const whole = axis.whole ? 2 : 0;
  if (axis.scale === "log") return Math.max(1e-4, (2 / Math.LN10) * Math.asinh((whole / 2) * 10 ** -middle));
  const [first, last] = wholeRange(axis);
  const seconds = axis.quantity === "date" ? 10 : 0;
  return Math.max(whole, seconds, (last - first) * 1e-6, Math.max(Math.abs(first), Math.abs(last)) * 1e-9);
}

/** The nearest part of an axis to this one that lies within all of it and is not too narrow. */
function bounded(axis, range) {
  const [first, last] = wholeRange(axis);
  const middle = (range[0] + range[1]) / 2;
  const width = Math.max(Math.abs(range[1] - range[0]), narrowest(axis, middle));
  if (axis.scale === "named" || !(width < last - first)) return [first, last];
  const low = Math.max(first, middle - width / 2);
  return low + width > last ? [last - width, last] : [low, low + width];
}

const hasBars = (figure) => figure.series.some(({ look }) => look === "bars");

/** How many ticks there is room for. */
const TICK_WIDTHS = { date: 120, percent: 52, times: 56, "one-in": 60, seconds: 66 };
const roomX = (width, axis) => Math.max(2, Math.floor((width - 70) / (TICK_WIDTHS[axis.quantity] ?? 80)));
const roomY = (height) => Math.max(3, Math.floor((height - 90) / 44));

/** Letters there is room for below each place that has a name. */
const nameRoom = (axis, width) => Math.max(12, Math.floor((width - 90) / 7 / (axis.names?.length ?? 1)));

function axisLayout(axis, range, room, paper, letters) {
  return {
    type: axis.scale === "log" ? "log" : "linear", range, tickmode: "array", ...ticks(axis, range, room, letters),
    ticklabeloverflow: "allow", gridcolor: paper.grid, linecolor: paper.soft, zeroline: false, automargin: true,
    tickfont: { size: 12 }, fixedrange: axis.scale === "named",
  };
}

/** A strip where the interval of a mark lies, a line where the mark is, and its label. */
function markShapes(figure, theme) {
  const ink = (mark) => (mark.colour ? shadeOf(mark.colour, theme) : PAPER[theme].soft);
  const upright = { type: "rect", xref: "x", yref: "paper", y0: 0, y1: 1, layer: "below" };
  return figure.marks.flatMap((mark) => {
    const line = {
      ...upright, type: "line", layer: "above", x0: mark.x, x1: mark.x,
      line: { color: ink(mark), width: 1.5, dash: "dot" },
    };
    if (!mark.interval) return [line];
    const [x0, x1] = mark.interval;
    return [{ ...upright, x0, x1, fillcolor: ink(mark), opacity: 0.13, line: { width: 0 } }, line];
  });
}

function markLabels(figure, theme, rangeX) {
  return figure.marks.map((mark, at) => {
    const x = figure.x.scale === "log" ? Math.log10(mark.x) : mark.x;
    const right = x > (rangeX[0] + rangeX[1]) / 2;
    const span = mark.span ? ` (${unmarked(mark.span.join(" to "))})` : "";
    return {
      x, y: 1, xref: "x", yref: "paper", xanchor: right ? "right" : "left", yanchor: "top",
      yshift: -16 * at - 2, xshift: right ? -4 : 4, showarrow: false, align: "left",
      text: unmarked(mark.label), hovertext: `${unmarked(mark.label)}: ${unmarked(mark.text)}${span}`,
      font: { size: 12, color: mark.colour ? shadeOf(mark.colour, theme) : PAPER[theme].ink },
      bgcolor: thin(PAPER[theme].ground, 0.75), name: "mark",
    };
  });
}

/** What is drawn of a figure in a theme, in a place of so many pixels, of these parts of its axes. */
function chart(figure, { theme, width, height, ranges, hidden }) {
  const paper = PAPER[theme];
  const data = figure.series.map((series) => ({
    ...trace(figure, series, theme, width), visible: !hidden.has(series.name), showlegend: false,
  }));
  const label = {
    text: unmarked(figure.y.label), x: 0, y: 1, xref: "paper", yref: "paper", xanchor: "left",
    yanchor: "bottom", yshift: 8, showarrow: false, font: { size: 13, color: paper.soft }, name: "label",
  };
  const xaxis = axisLayout(figure.x, ranges.x, roomX(width, figure.x), paper, nameRoom(figure.x, width));
  const yaxis = axisLayout(figure.y, ranges.y, roomY(height), paper);
  const named = figure.x.scale === "named";
  return {
    data,
    layout: {
      paper_bgcolor: paper.ground, plot_bgcolor: paper.ground, font: { family: FONT, size: 13, color: paper.ink },
      margin: { l: 12, r: 28, t: 34, b: 20, pad: 4 }, barmode: "overlay",
      hovermode: "closest", showlegend: false,
      hoverlabel: { bgcolor: paper.panel, align: "left", font: { family: FONT, size: 13, color: paper.ink } },
      dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
      coloraxis: shadeScale(figure, theme),
      xaxis: {
        ...xaxis, showgrid: !named, showline: true, ticks: named ? "" : "outside", tickcolor: paper.soft,
        title: { text: unmarked(figure.x.label), standoff: 10, font: { size: 13, color: paper.soft } },
      },
      yaxis: { ...yaxis, ticks: "" },
      shapes: markShapes(figure, theme),
      annotations: [label, ...markLabels(figure, theme, ranges.x)],
    },
  };
}
