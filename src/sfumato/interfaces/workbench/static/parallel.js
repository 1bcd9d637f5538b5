// Several measures: each an upright axis with its better end on top, each candidate a line across; axes can be brushed.
import { Scale, colours, efficientOf, neighbour, printed, sharp } from "./chart.js";

const NEAR = 12;

export class Parallel {
  constructor(canvas) {
    this.canvas = canvas;
    this.hidden = new Set();
    this.brushes = new Map();
    this.chosen = -1;
    this.brushing = null;
  }

  show(all, measures) {
    this.all = all;
    this.measures = measures;
    this.scales = measures.map((measure) => Scale.of(measure));
    const n = all.ids.length;
    this.places = this.scales.map((scale) => {
      const up = scale.measure.better === "higher";
      return Float64Array.from(scale.measure.values, (value) => (up ? scale.fraction(value) : 1 - scale.fraction(value)));
    });
    this.front = efficientOf(measures, n);
    this.isEfficient = new Set(this.front);
    this.drawn = [];
    for (let row = 0; row < n; row++) if (this.places.every((own) => !Number.isNaN(own[row]))) this.drawn.push(row);
    for (const label of [...this.brushes.keys()]) if (!measures.some((m) => m.label === label)) this.brushes.delete(label);
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this.frame = { left: Math.min(70, width / 6), right: width - Math.min(70, width / 6), top: 46, bottom: height - 26 };
  }

  ax(i) {
    const n = this.scales.length - 1 || 1;
    return this.frame.left + (i / n) * (this.frame.right - this.frame.left);
  }

  ay(place) {
    return this.frame.bottom - place * (this.frame.bottom - this.frame.top);
  }

  valueAt(i, py) {
    const place = (this.frame.bottom - py) / (this.frame.bottom - this.frame.top);
    const scale = this.scales[i];
    return scale.at(scale.measure.better === "higher" ? place : 1 - place);
  }

  isSeen(row) {
    if (this.hidden.has(this.all.family[row])) return false;
    return this.scales.every((scale) => {
      const brush = this.brushes.get(scale.measure.label);
      const value = scale.measure.values[row];
      return !brush || (value >= brush.low && value <= brush.high);
    });
  }

  axisAt(px) {
    return this.scales.findIndex((_, i) => Math.abs(this.ax(i) - px) < 16);
  }

  nearest(px, py) {
    const after = this.scales.findIndex((_, i) => this.ax(i) > px);
    const right = after <= 0 ? Math.max(after, 1) : after;
    if (right >= this.scales.length || right < 1) return -1;
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
    const a = this.valueAt(i, from), b = this.valueAt(i, to);
    this.brushes.set(this.scales[i].measure.label, { low: Math.min(a, b), high: Math.max(a, b) });
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
    if (this.chosen >= 0 && this.drawn.includes(this.chosen)) this.drawLines(context, [this.chosen], colour("ink"), 3, 1);
    this.drawAxes(context, colour);
  }

  // Lines of what breaks the policy are dashed, whichever measures are drawn.
  drawLines(context, rows, colour, width, alpha) {
    this.stroke(context, rows.filter((row) => this.all.keeps[row]), colour, width, alpha);
    context.setLineDash([3, 4]);
    this.stroke(context, rows.filter((row) => !this.all.keeps[row]), colour, width, alpha);
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
        for (let i = 0; i < this.scales.length; i++) {
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
    const room = (f.right - f.left) / Math.max(this.scales.length - 1, 1) - 8;
    this.scales.forEach((scale, i) => {
      const x = Math.round(this.ax(i)) + 0.5;
      const up = scale.measure.better === "higher";
      const y = (value) => this.ay(up ? scale.fraction(value) : 1 - scale.fraction(value));
      const limit = scale.measure.limit || {};
      context.fillStyle = colour("forbidden");
      context.globalAlpha = 0.25;
      for (const [end, border] of [[limit.most, scale.high], [limit.least, scale.low]]) {
        if (end !== undefined) context.fillRect(x - 5, Math.min(y(end), y(border)), 10, Math.abs(y(end) - y(border)));
      }
      context.globalAlpha = 1;
      const brush = this.brushes.get(scale.measure.label);
      if (brush) {
        context.fillStyle = colour("accent");
        context.globalAlpha = 0.35;
        context.fillRect(x - 8, Math.min(y(brush.low), y(brush.high)), 16, Math.max(Math.abs(y(brush.low) - y(brush.high)), 2));
        context.globalAlpha = 1;
      }
      context.strokeStyle = colour("ink");
      context.lineWidth = 1.4;
      context.beginPath();
      context.moveTo(x, f.top);
      context.lineTo(x, f.bottom);
      context.stroke();
      context.font = "11px " + colour("sans");
      context.textBaseline = "middle";
      const last = i === this.scales.length - 1;
      context.textAlign = last ? "left" : "right";
      for (const value of scale.ticks(0, 1, 6)) {
        const text = printed(scale.measure, value);
        context.lineWidth = 3;
        context.strokeStyle = colour("paper");
        context.strokeText(text, last ? x + 8 : x - 8, y(value));
        context.fillStyle = colour("soft");
        context.fillText(text, last ? x + 8 : x - 8, y(value));
        context.fillRect(x - 3, y(value) - 0.5, 6, 1);
      }
      context.fillStyle = colour("ink");
      context.font = "600 12px " + colour("sans");
      const edge = i === 0 ? "left" : i === this.scales.length - 1 ? "right" : "center";
      context.textAlign = edge;
      const from = edge === "left" ? 2 : edge === "right" ? this.width - 2 : x;
      this.write(context, scale.measure.title, from, 4, Math.max(room, 60));
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
