// Several measures: each an upright axis with its better end on top, each candidate a line across; axes can be brushed.
import { along, colours, neighbour, sharp } from "./chart.js";

const NEAR = 12;

export class Parallel {
  constructor(canvas) {
    this.canvas = canvas;
    this.hidden = new Set();
    this.brushes = new Map();
    this.chosen = -1;
    this.brushing = null;
  }

  show(all) {
    this.all = all;
    this.axes = all.axes;
    this.places = all.places;
    this.front = all.front;
    this.isEfficient = new Set(this.front);
    this.knee = all.knee;
    this.drawn = [...all.ids.keys()].filter((row) => this.places.every((own) => own[row] !== null));
    this.canvas.setAttribute("aria-label", `${this.drawn.length} candidates, ${this.front.length} of them efficient: ${all.measures.map((m) => m.title).join(", ")}`);
    for (const label of [...this.brushes.keys()]) if (!all.measures.some((m) => m.label === label)) this.brushes.delete(label);
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this.frame = { left: Math.min(70, width / 6), right: width - Math.min(70, width / 6), top: 46, bottom: height - 26 };
  }

  ax(i) {
    const n = this.axes.length - 1 || 1;
    return this.frame.left + (i / n) * (this.frame.right - this.frame.left);
  }

  ay(place) {
    return this.frame.bottom - place * (this.frame.bottom - this.frame.top);
  }

  // Where a brush begins and ends, as places on the axis, lower first.
  ends(i, { low, high }) {
    const pairs = this.axes[i].stops.map(([place, value]) => [value, place]).sort((a, b) => a[0] - b[0]);
    return [low, high].map((value) => Number.isFinite(value) ? along(pairs, value) : (value > 0) === this.isUp(i) ? 1 : 0).sort((a, b) => a - b);
  }

  // Whether larger values are higher on the axis.
  isUp(i) {
    const { stops } = this.axes[i];
    return stops.length < 2 || stops.at(-1)[1] > stops[0][1];
  }

  isSeen(row) {
    if (this.hidden.has(this.all.family[row])) return false;
    return this.axes.every((_, i) => {
      const brush = this.brushes.get(this.all.measures[i].label);
      if (!brush) return true;
      const [low, high] = this.ends(i, brush);
      return this.places[i][row] >= low - 1e-5 && this.places[i][row] <= high + 1e-5;
    });
  }

  axisAt(px) {
    return this.axes.findIndex((_, i) => Math.abs(this.ax(i) - px) < 16);
  }

  nearest(px, py) {
    const after = this.axes.findIndex((_, i) => this.ax(i) > px);
    const right = after <= 0 ? Math.max(after, 1) : after;
    if (right >= this.axes.length || right < 1) return -1;
    const share = (px - this.ax(right - 1)) / (this.ax(right) - this.ax(right - 1));
    if (share < 0 || share > 1) return -1;
    let best = -1, least = NEAR;
    for (const row of this.drawn) {
      const place = this.places[right - 1][row] * (1 - share) + this.places[right][row] * share;
      const far = Math.abs(this.ay(place) - py) - (this.isEfficient.has(row) ? 3 : 0);
      if (far < least && this.isSeen(row)) [best, least] = [row, far];
    }
    return best;
  }

  place(row) {
    return [this.ax(0), this.ay(this.places[0][row])];
  }

  step(row, key) {
    const along = key === "ArrowLeft" || key === "ArrowRight";
    const rows = (along ? this.front : this.drawn).filter((candidate) => this.isSeen(candidate));
    rows.sort((a, b) => this.places[0][b] - this.places[0][a] || a - b);
    return neighbour(rows, row, key);
  }

  brush(i, from, to) {
    const values = [from, to].map((py) => along(this.axes[i].stops, (this.frame.bottom - py) / (this.frame.bottom - this.frame.top)));
    this.brushes.set(this.all.measures[i].label, { low: Math.min(...values), high: Math.max(...values) });
  }

  whole() {
    this.brushes.clear();
  }

  draw() {
    const context = sharp(this.canvas, this.width, this.height);
    const colour = colours();
    const seen = this.drawn.filter((row) => this.isSeen(row));
    const brushed = this.brushes.size > 0 || this.hidden.size > 0;
    if (brushed) this.drawLines(context, this.drawn, colour("rule"), 0.5, 0.35);
    this.drawLines(context, seen.filter((row) => !this.isEfficient.has(row)), colour("edge"), 0.8, seen.length > 800 ? 0.3 : 0.55);
    const families = new Map();
    for (const row of seen) {
      if (!this.isEfficient.has(row)) continue;
      const family = this.all.family[row];
      if (!families.has(family)) families.set(family, []);
      families.get(family).push(row);
    }
    const many = this.front.length > 400;
    for (const [family, rows] of families) this.drawLines(context, rows, colour(this.all.families[family].colour), many ? 1 : 1.8, many ? 0.55 : 0.9);
    for (const [row, width] of [[this.knee, 2], [this.chosen, 3]]) {
      if (row >= 0 && this.drawn.includes(row)) this.drawLines(context, [row], colour("ink"), width, 1);
    }
    this.drawAxes(context, colour);
  }

  // Lines of candidates against the policy are dashed, whichever measures are drawn.
  drawLines(context, rows, colour, width, alpha) {
    this.stroke(context, rows.filter((row) => !this.all.broken[row]), colour, width, alpha);
    context.setLineDash([3, 4]);
    this.stroke(context, rows.filter((row) => this.all.broken[row]), colour, width, alpha);
    context.setLineDash([]);
  }

  stroke(context, rows, colour, width, alpha) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.globalAlpha = alpha;
    // one long path is slow to stroke where it crosses itself often
    for (let start = 0; start < rows.length; start += 64) {
      context.beginPath();
      for (const row of rows.slice(start, start + 64)) {
        for (let i = 0; i < this.axes.length; i++) {
          const x = this.ax(i), y = this.ay(this.places[i][row]);
          if (i) context.lineTo(x, y);
          else context.moveTo(x, y);
        }
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawAxes(context, colour) {
    const f = this.frame;
    context.textAlign = "center";
    context.lineJoin = "round";
    const room = (f.right - f.left) / Math.max(this.axes.length - 1, 1) - 8;
    this.axes.forEach((axis, i) => {
      const x = Math.round(this.ax(i)) + 0.5;
      const bar = (from, to, half) => context.fillRect(x - half, Math.min(this.ay(from), this.ay(to)), 2 * half, Math.max(Math.abs(this.ay(from) - this.ay(to)), 2));
      context.fillStyle = colour("forbidden");
      context.globalAlpha = 0.25;
      for (const [end, border] of axis.forbidden) bar(end, border, 5);
      const brush = this.brushes.get(this.all.measures[i].label);
      if (brush) {
        context.fillStyle = colour("accent");
        context.globalAlpha = 0.35;
        bar(...this.ends(i, brush), 8);
      }
      context.globalAlpha = 1;
      context.strokeStyle = colour("ink");
      context.lineWidth = 1.4;
      context.beginPath();
      context.moveTo(x, f.top);
      context.lineTo(x, f.bottom);
      context.stroke();
      context.font = "11px " + colour("sans");
      context.textBaseline = "middle";
      const last = i === this.axes.length - 1;
      context.textAlign = last ? "left" : "right";
      for (const [place, text] of axis.ticks) {
        const y = this.ay(place);
        context.lineWidth = 3;
        context.strokeStyle = colour("paper");
        context.strokeText(text, last ? x + 8 : x - 8, y);
        context.fillStyle = colour("soft");
        context.fillText(text, last ? x + 8 : x - 8, y);
        context.fillRect(x - 3, y - 0.5, 6, 1);
      }
      context.fillStyle = colour("ink");
      context.font = "600 12px " + colour("sans");
      const edge = i === 0 ? "left" : i === this.axes.length - 1 ? "right" : "center";
      context.textAlign = edge;
      const from = edge === "left" ? 2 : edge === "right" ? this.width - 2 : x;
      this.write(context, this.all.measures[i].title, from, 4, Math.max(room, 60));
      context.textAlign = "center";
    });
    context.font = "11px " + colour("sans");
    context.fillStyle = colour("soft");
    context.textBaseline = "bottom";
    context.fillText("better is higher on every axis; drag along an axis to narrow down", this.width / 2, this.height - 2, this.width);
  }

  write(context, text, x, y, room) {
    context.textBaseline = "top";
    const lines = [""];
    for (const word of text.split(" ")) {
      const longer = (lines.at(-1) + " " + word).trim();
      if (lines.at(-1) && context.measureText(longer).width > room && lines.length < 2) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    lines.forEach((line, i) => context.fillText(line, x, y + 15 * i, room + 30));
  }
}
