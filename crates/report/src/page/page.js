// Charts that answer: values under the pointer and by the arrow keys, series to show and hide, a part of
// the x axis to look at closely, pictures to save. Beside them the theme, copying and printing.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const root = document.documentElement;
const charts = [];

function element(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text }, properties);
}

function shape(tag, attributes, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

const numbers = (text) => text.split(" ").map(Number);

/** One chart: a picture for wide screens and one for narrow ones, and the rows of its table. */
class Chart {
  constructor(figure) {
    this.figure = figure;
    this.place = figure.querySelector(".chart");
    this.key = figure.id;
    this.title = figure.querySelector("h3").textContent;
    this.table = figure.querySelector("table");
    this.rows = [];
    for (const row of this.table.tBodies[0].rows) {
      if (row.cells[0].tagName === "TH") this.rows.lead = row.textContent.trim();
      else this.rows.push({ lead: this.rows.lead, row });
    }
    this.hidden = new Set();
    this.view = [0, 1];
    this.at = -1;
    this.pictures = [...this.place.querySelectorAll("svg")].map((svg) => {
      const [left, top, right, bottom] = numbers(svg.dataset.plot);
      return { svg, left, top, right, bottom, original: svg.cloneNode(true) };
    });
    this.wide = this.pictures[0];
    this.zoomable = figure.hasAttribute("data-zoomable");
    this.tip = this.place.appendChild(element("div", "", { className: "tip", role: "status", hidden: true }));
    this.addControls();
    this.addLegend();
    this.listen();
    this.draw();
  }

  /** The series of a point and its cells in the table below the chart. */
  row(number) {
    const { lead, row } = this.rows[number];
    return [lead, ...[...row.cells].map((cell) => cell.textContent.trim())];
  }

  /** Points with their rectangles in the wide picture, from left to right. */
  get points() {
    this.found ??= [...this.wide.original.querySelectorAll(".series")].flatMap((series) => (
      outlines(series).map(({ at, ...outline }) => (
        { width: 0, height: 0, ...outline, series: series.dataset.series, row: Number(series.dataset.row) + at }))
    )).sort((a, b) => a.x - b.x || a.y - b.y);
    return this.found;
  }

  /** The picture that is seen. */
  get seen() {
    return this.pictures.find(({ svg }) => svg.clientWidth > 0) ?? this.wide;
  }

  /** From the x of the wide picture to that of another in the part that is in view. */
  across({ left, right }, x) {
    const [from, to] = this.view;
    const share = (x - this.wide.left) / (this.wide.right - this.wide.left);
    return left + ((share - from) / (to - from)) * (right - left);
  }

  draw() {
    for (const picture of this.pictures) {
      const { svg, original, top, left, right } = picture;
      const isWide = picture === this.wide;
      const zoomed = this.view[0] > 0 || this.view[1] < 1;
      svg.replaceChildren(...original.cloneNode(true).childNodes);
      const data = svg.querySelector(".data");
      if (!isWide) data.replaceChildren(...this.wide.original.querySelector(".data").cloneNode(true).childNodes);
      if (!isWide || zoomed) {
        const factor = (right - left) / (this.wide.right - this.wide.left) / (this.view[1] - this.view[0]);
        data.querySelectorAll("*").forEach((one) => move(one, (x) => this.across(picture, x), factor));
        if (!isWide) data.setAttribute("transform", `translate(0 ${top - this.wide.top})`);
      }
      if (zoomed) this.zoomFrame(picture);
      for (const series of data.querySelectorAll(".series")) {
        if (this.hidden.has(series.dataset.series)) series.setAttribute("display", "none");
      }
    }
  }

  /** Lines and ticks of the x axis where a part of it is in view: ticks stand at measured places. */
  zoomFrame(picture) {
    const { svg, left, right, top, bottom } = picture;
    const own = (x) => this.wide.left + ((x - left) / (right - left)) * (this.wide.right - this.wide.left);
    const place = (x) => this.across(picture, own(x));
    const clip = shape("clipPath", { id: `clip-${this.key}-${svg.classList[0]}` });
    clip.append(shape("rect", { x: left, y: -9999, width: right - left, height: 99999 }));
    svg.append(clip);
    for (const one of svg.querySelectorAll(".interval, .data")) {
      if (!one.matches(".data")) move(one, place, 1 / (this.view[1] - this.view[0]));
      one.setAttribute("clip-path", `url(#${clip.id})`);
    }
    const [grid, ticks] = [svg.querySelector(".grid-x"), svg.querySelector(".ticks-x")];
    const sample = ticks.querySelector("text");
    let lines = "";
    ticks.replaceChildren();
    const told = new Set();
    let free = left - 20;
    for (const point of this.points.filter(({ series }) => !this.hidden.has(series))) {
      const x = this.across(picture, point.x + point.width / 2);
      const text = this.row(point.row)[1];
      const half = text.length * 3.5;
      if (x < left || x > right || told.has(text) || x - half < free) continue;
      free = x + half + 14;
      told.add(text);
      lines += `M${x} ${bottom}V${top}`;
      const tick = sample.cloneNode();
      tick.setAttribute("x", x);
      tick.textContent = text;
      ticks.append(tick);
    }
    grid.setAttribute("d", lines);
  }

  /** Shows this part of the x axis, or the nearest there is. */
  show(from, to) {
    const width = Math.min(1, Math.max(0.002, to - from));
    const start = Math.min(Math.max(0, (from + to - width) / 2), 1 - width);
    this.view = [start, start + width];
    this.leave();
    this.draw();
  }

  /** So many times as much of the x axis, moved by a share of what is in view. */
  zoom(times, aside = 0) {
    const [from, to] = this.view;
    const [middle, half] = [(from + to) / 2 + aside * (to - from), ((to - from) / 2) * times];
    this.show(middle - half, middle + half);
  }

  /** What is written about a point, at its place. */
  tell(point) {
    if (!point) return this.leave();
    const { svg, top } = this.seen;
    this.at = this.points.indexOf(point);
    const heads = [...this.table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const [lead, ...cells] = this.row(point.row);
    const lines = cells.map((cell, at) => cell && `${heads[at]}: ${cell}`).filter(Boolean);
    this.tip.replaceChildren(element("b", lead), ...lines.map((line) => element("span", line)));
    this.tip.hidden = false;
    svg.querySelector(".pointed")?.remove();
    const left = this.across(this.seen, point.x), right = this.across(this.seen, point.x + point.width);
    const y = point.y + top - this.wide.top;
    const ring = { class: "pointed", x: left - 5, y: y - 5, width: right - left + 10, height: point.height + 10, rx: 5 };
    svg.append(shape("rect", ring));
    const [, viewTop, viewWidth] = numbers(svg.getAttribute("viewBox"));
    const scale = svg.clientWidth / viewWidth;
    const isRight = (left + right) / 2 > viewWidth / 2;
    this.tip.style.top = `${Math.max(0, (y - viewTop) * scale - 20)}px`;
    this.tip.style.left = isRight ? "auto" : `${svg.offsetLeft + right * scale + 12}px`;
    this.tip.style.right = isRight ? `${this.place.clientWidth - svg.offsetLeft - left * scale + 12}px` : "auto";
  }

  leave() {
    this.tip.hidden = true;
    this.pictures.forEach(({ svg }) => svg.querySelector(".pointed")?.remove());
  }

  /** Points that are in view. */
  inView() {
    const { left, right } = this.seen;
    return this.points.filter((point) => {
      const [from, to] = [point.x, point.x + point.width].map((x) => this.across(this.seen, x));
      return !this.hidden.has(point.series) && to >= left - 1 && from <= right + 1;
    });
  }

  /** The pixel of the picture under the pointer. */
  pixel({ clientX, clientY }) {
    const { svg, top } = this.seen;
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    return { x, y: y - top + this.wide.top };
  }

  nearest({ x, y }) {
    let [best, least] = [null, 30];
    for (const point of this.inView()) {
      const [left, right] = [point.x, point.x + point.width].map((end) => this.across(this.seen, end));
      const aside = Math.max(left - x, 0, x - right), above = Math.max(point.y - y, 0, y - point.y - point.height);
      const far = Math.hypot(aside, above);
      if (far < least) [best, least] = [point, far];
    }
    return best;
  }

  listen() {
    let start = null;
    this.place.addEventListener("pointermove", (event) => {
      const pixel = this.pixel(event);
      if (start === null) return this.tell(this.nearest(pixel));
      const { svg, top, bottom } = this.seen;
      svg.querySelector(".chosen")?.remove();
      const [x, width] = [Math.min(start, pixel.x), Math.abs(pixel.x - start)];
      svg.append(shape("rect", { class: "chosen", x, y: top, width, height: bottom - top }));
    });
    this.place.addEventListener("pointerdown", (event) => {
      if (!this.zoomable || event.pointerType === "touch" || event.button !== 0) return;
      start = this.pixel(event).x;
      this.leave();
      this.place.setPointerCapture(event.pointerId);
    });
    this.place.addEventListener("pointerup", (event) => {
      const [from, to] = [start, this.pixel(event).x].sort((a, b) => a - b);
      const { svg, left, right } = this.seen;
      const isDrag = start !== null && to - from > 8;
      start = null;
      svg.querySelector(".chosen")?.remove();
      const share = (x) => this.view[0] + ((x - left) / (right - left)) * (this.view[1] - this.view[0]);
      if (isDrag) this.show(share(from), share(to));
    });
    this.place.addEventListener("dblclick", () => this.show(0, 1));
    for (const name of ["pointerleave", "blur"]) this.place.addEventListener(name, () => this.leave());
    this.place.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") this.leave();
      if (!step) return;
      event.preventDefault();
      const seen = this.inView();
      const at = seen.indexOf(this.points[this.at]);
      this.tell(seen[at < 0 ? 0 : Math.min(seen.length - 1, Math.max(0, at + step))]);
    });
  }

  addControls() {
    const bar = element("div", "", { className: "controls" });
    const zooms = [
      ["Zoom in", () => this.zoom(0.5)], ["Zoom out", () => this.zoom(2)], ["Left", () => this.zoom(1, -0.5), "←"],
      ["Right", () => this.zoom(1, 0.5), "→"], ["Reset", () => this.show(0, 1)],
    ];
    const saves = [["Save PNG", () => this.savePng()], ["Save SVG", () => this.save(this.picture(), "svg")]];
    for (const [name, act, sign] of [...(this.zoomable ? zooms : []), ...saves]) {
      const button = element("button", sign ?? name, { type: "button", title: sign ? name : "" });
      button.setAttribute("aria-label", `${name}: ${this.title}`);
      button.addEventListener("click", act);
      bar.append(button);
    }
    this.figure.querySelector("figcaption").after(bar);
  }

  addLegend() {
    for (const button of this.figure.querySelectorAll(".legend button")) {
      button.addEventListener("click", () => {
        const isShown = button.getAttribute("aria-pressed") === "true";
        button.setAttribute("aria-pressed", String(!isShown));
        for (const series of button.dataset.series.split(" ")) this.hidden[isShown ? "add" : "delete"](series);
        this.leave();
        this.draw();
      });
    }
  }

  /** The whole picture with its words, in the colours for paper. */
  picture() {
    const svg = this.wide.svg.cloneNode(true);
    const [, , width] = numbers(svg.getAttribute("viewBox"));
    const height = Number(svg.dataset.height);
    for (const [name, value] of Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` })) {
      svg.setAttribute(name, value);
    }
    svg.querySelector(".words").removeAttribute("display");
    svg.querySelector(".pointed")?.remove();
    return new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
  }

  save(blob, ending) {
    const href = URL.createObjectURL(blob);
    element("a", "", { href, download: `${this.key}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60000);
  }

  async savePng() {
    const image = new Image();
    image.src = URL.createObjectURL(this.picture());
    await image.decode();
    const canvas = element("canvas", "", { width: image.width * 2, height: image.height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => this.save(blob, "png"));
  }
}

/** Where the points of a series lie in its picture: bars as rectangles, others as places. */
function outlines(series) {
  const attribute = (one, name) => Number(one.getAttribute(name));
  const points = [...series.querySelectorAll(".point")];
  if (points.length > 0) {
    return points.map((one, at) => {
      if (one.tagName === "rect") {
        const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => attribute(one, name));
        return { x, y, width, height, at };
      }
      if (one.tagName === "circle") return { x: attribute(one, "cx"), y: attribute(one, "cy"), at };
      const [x, y] = one.getAttribute("d").match(/-?[\d.]+/g).map(Number);
      return { x, y, at };
    });
  }
  return [...series.querySelectorAll(".line, .points")].flatMap((path) => {
    const places = path.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g);
    return [...places].map(([, x, y], at) => ({ x: Number(x), y: Number(y), width: 0, height: 0, at }));
  });
}

/** Moves what is drawn along the x axis; rectangles become so many times as wide. */
function move(one, across, factor) {
  for (const name of ["x", "cx"]) {
    if (one.hasAttribute(name)) one.setAttribute(name, across(Number(one.getAttribute(name))));
  }
  if (one.tagName === "rect") one.setAttribute("width", one.getAttribute("width") * factor);
  const path = one.getAttribute("d");
  if (path === null) return;
  const moved = path.replace(/([ML])([-\d.]+) /g, (_, letter, x) => `${letter}${across(Number(x)).toFixed(2)} `);
  one.setAttribute("d", moved);
}

// --- the page ----------------------------------------------------------------------------------

root.classList.add("script");
for (const figure of document.querySelectorAll("figure")) charts.push(new Chart(figure));

const themeButton = document.getElementById("theme");
const darkAsked = window.matchMedia("(prefers-color-scheme: dark)");
const theme = () => root.dataset.theme ?? (darkAsked.matches ? "dark" : "light");
function nameTheme() {
  themeButton.textContent = theme() === "dark" ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `${themeButton.textContent} colours`);
}
themeButton.hidden = false;
themeButton.addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  nameTheme();
});
darkAsked.addEventListener("change", nameTheme);
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
  for (const details of document.querySelectorAll("details:is(.printed, .part):not([open])")) {
    details.open = true;
    opened.push(details);
  }
});
window.addEventListener("afterprint", () => opened.splice(0).forEach((details) => { details.open = false; }));
