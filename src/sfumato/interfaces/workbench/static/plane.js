// Two measures: the server's picture, with candidates to point at and limits to move.
import { neighbour } from "./chart.js";

const NEAR = 15;

export class Plane {
  constructor(canvas) {
    this.canvas = canvas;
    this.hidden = new Set();
    this.chosen = -1;
    this.box = null;
  }

  // Take in candidates and their picture.
  show(all) {
    this.all = all;
    this.front = all.front;
    this.isEfficient = new Set(all.front);
    this.knee = all.knee;
    this.drawn = [...all.ids.keys()].filter((row) => all.places[row]);
    const picture = new DOMParser().parseFromString(all.svg, "image/svg+xml").documentElement;
    for (const name of ["role", "aria-label"]) picture.removeAttribute(name);
    picture.setAttribute("aria-hidden", "true");
    this.canvas.replaceChildren(document.importNode(picture, true));
    this.canvas.setAttribute("aria-label", all.description);
    this.picture = this.canvas.firstElementChild;
  }

  get zoomed() {
    return this.all.window !== "";
  }

  // Pixels of the page for each unit of the picture.
  get ratio() {
    return this.canvas.clientWidth / this.picture.viewBox.baseVal.width;
  }

  place(row) {
    return this.all.places[row].map((part) => part * this.ratio);
  }

  isSeen(row) {
    return Boolean(this.all.places[row]) && !this.hidden.has(this.all.family[row]);
  }

  nearest(px, py) {
    const ratio = this.ratio;
    let best = -1, least = NEAR * NEAR;
    for (const row of this.drawn) {
      const dx = this.all.places[row][0] * ratio - px;
      if (dx > NEAR || dx < -NEAR || !this.isSeen(row)) continue;
      const dy = this.all.places[row][1] * ratio - py;
      // among those that lie together an efficient one wins
      const far = dx * dx + dy * dy - (this.isEfficient.has(row) ? 9 : 0);
      if (far < least) [best, least] = [row, far];
    }
    return best;
  }

  // The next candidate for a key: left and right along the efficient ones, up and down through all.
  step(row, key) {
    const isAlong = key === "ArrowLeft" || key === "ArrowRight";
    const rows = (isAlong ? this.front : this.drawn).filter((candidate) => this.isSeen(candidate));
    const places = this.all.places;
    rows.sort((a, b) => places[a][0] - places[b][0] || places[a][1] - places[b][1] || a - b);
    return neighbour(rows, row, key);
  }

  // The fractions of both axes between two corners on the page.
  part({ x0, y0, x1, y1 }) {
    const [left, top, right, bottom] = this.all.frame.map((side) => side * this.ratio);
    const across = [x0, x1].map((x) => (x - left) / (right - left)).sort((a, b) => a - b);
    const up = [y0, y1].map((y) => (bottom - y) / (bottom - top)).sort((a, b) => a - b);
    return [...across, ...up];
  }

  draw() {
    for (const group of this.picture.querySelectorAll("g[data-family]")) {
      const family = this.all.families.findIndex(({ name }) => name === group.dataset.family);
      group.toggleAttribute("hidden", this.hidden.has(family));
    }
  }
}
