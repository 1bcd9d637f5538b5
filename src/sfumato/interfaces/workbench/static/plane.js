// Two measures: candidates as points, the efficient line, what the policy forbids; to point at, zoom and walk.
import { Scale, addShape, colours, efficientOf, kneeOf, neighbour, printed, sharp } from "./chart.js";

const WHOLE = { left: 0, right: 1, bottom: 0, top: 1 };
const NEAR = 15;

export class Plane {
  constructor(canvas) {
    this.canvas = canvas;
    this.view = { ...WHOLE };
    this.hidden = new Set();
    this.chosen = -1;
    this.box = null;
  }

  // Take in candidates and the two measures; the part of the picture that is seen stays the same.
  show(all, measures) {
    const [up, right] = measures;
    const same = this.x && this.x.measure.label === right.label && this.y.measure.label === up.label;
    const seen = same && this.zoomed ? this.corners() : null;
    this.all = all;
    this.x = Scale.of(right);
    this.y = Scale.of(up);
    this.measures = measures;
    const n = all.ids.length;
    this.fx = new Float64Array(n);
    this.fy = new Float64Array(n);
    this.drawn = [];
    for (let row = 0; row < n; row++) {
      const x = right.values[row], y = up.values[row];
      if (Number.isNaN(x) || Number.isNaN(y)) continue;
      this.fx[row] = this.x.fraction(x);
      this.fy[row] = this.y.fraction(y);
      this.drawn.push(row);
    }
    this.front = efficientOf(measures, n);
    this.isEfficient = new Set(this.front);
    this.line = efficientOf([right, up], n);
    this.knee = kneeOf(this.front, measures);
    this.view = seen ? this.fractions(seen) : { ...WHOLE };
  }

  get zoomed() {
    return Object.keys(WHOLE).some((side) => Math.abs(this.view[side] - WHOLE[side]) > 1e-9);
  }

  corners() {
    const { left, right, bottom, top } = this.view;
    return { left: this.x.at(left), right: this.x.at(right), bottom: this.y.at(bottom), top: this.y.at(top) };
  }

  fractions({ left, right, bottom, top }) {
    return { left: this.x.fraction(left), right: this.x.fraction(right), bottom: this.y.fraction(bottom), top: this.y.fraction(top) };
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    const narrow = width < 520;
    this.frame = { left: narrow ? 58 : 64, right: width - 14, top: 14, bottom: height - 48 };
  }

  place(row) {
    return [this.px(this.fx[row]), this.py(this.fy[row])];
  }

  px(fraction) {
    const { left, right } = this.view;
    return this.frame.left + ((fraction - left) / (right - left)) * (this.frame.right - this.frame.left);
  }

  py(fraction) {
    const { bottom, top } = this.view;
    return this.frame.bottom - ((fraction - bottom) / (top - bottom)) * (this.frame.bottom - this.frame.top);
  }

  at(px, py) {
    const { left, right, bottom, top } = this.view, f = this.frame;
    return [left + ((px - f.left) / (f.right - f.left)) * (right - left), bottom + ((f.bottom - py) / (f.bottom - f.top)) * (top - bottom)];
  }

  isSeen(row) {
    if (this.hidden.has(this.all.family[row])) return false;
    const [x, y] = this.place(row), f = this.frame;
    return x >= f.left - 1 && x <= f.right + 1 && y >= f.top - 1 && y <= f.bottom + 1;
  }

  nearest(px, py) {
    let best = -1, least = NEAR * NEAR;
    for (const row of this.drawn) {
      if (this.hidden.has(this.all.family[row])) continue;
      const dx = this.px(this.fx[row]) - px;
      if (dx > NEAR || dx < -NEAR) continue;
      const dy = this.py(this.fy[row]) - py;
      // among those that lie together an efficient one wins
      const far = dx * dx + dy * dy - (this.isEfficient.has(row) ? 9 : 0);
      if (far < least && this.isSeen(row)) [best, least] = [row, far];
    }
    return best;
  }

  // The next candidate for a key: left and right along the efficient ones, up and down through all.
  step(row, key) {
    const along = key === "ArrowLeft" || key === "ArrowRight";
    const rows = (along ? this.front : this.drawn).filter((candidate) => this.isSeen(candidate));
    rows.sort((a, b) => this.fx[a] - this.fx[b] || this.fy[b] - this.fy[a] || a - b);
    return neighbour(rows, row, key);
  }

  zoom(factor, px, py) {
    const [fx, fy] = px === undefined ? [(this.view.left + this.view.right) / 2, (this.view.bottom + this.view.top) / 2] : this.at(px, py);
    const { left, right, bottom, top } = this.view;
    this.see({ left: fx - (fx - left) / factor, right: fx + (right - fx) / factor, bottom: fy - (fy - bottom) / factor, top: fy + (top - fy) / factor });
  }

  move(dx, dy) {
    const { left, right, bottom, top } = this.view;
    const across = (dx / (this.frame.right - this.frame.left)) * (right - left);
    const along = (dy / (this.frame.bottom - this.frame.top)) * (top - bottom);
    this.see({ left: left - across, right: right - across, bottom: bottom + along, top: top + along });
  }

  see(view) {
    for (const [low, high] of [["left", "right"], ["bottom", "top"]]) {
      const span = Math.min(Math.max(view[high] - view[low], 1e-5), 1);
      view[low] = Math.min(Math.max(view[low], 0), 1 - span);
      view[high] = view[low] + span;
    }
    this.view = view;
  }

  whole() {
    this.view = { ...WHOLE };
  }

  seeBox({ x0, y0, x1, y1 }) {
    const [left, top] = this.at(Math.min(x0, x1), Math.min(y0, y1));
    const [right, bottom] = this.at(Math.max(x0, x1), Math.max(y0, y1));
    this.see({ left, right, bottom, top });
  }

  draw() {
    const context = sharp(this.canvas, this.width, this.height);
    const colour = colours();
    this.drawForbidden(context, colour);
    this.drawAxes(context, colour);
    context.save();
    context.beginPath();
    context.rect(this.frame.left - 7, this.frame.top - 7, this.frame.right - this.frame.left + 14, this.frame.bottom - this.frame.top + 14);
    context.clip();
    this.drawLine(context, colour);
    this.drawPoints(context, colour);
    this.drawMarks(context, colour);
    context.restore();
    if (this.box) {
      const { x0, y0, x1, y1 } = this.box;
      context.fillStyle = colour("accent");
      context.globalAlpha = 0.12;
      context.fillRect(x0, y0, x1 - x0, y1 - y0);
      context.globalAlpha = 1;
      context.strokeStyle = colour("accent");
      context.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0, y1 - y0);
    }
  }

  drawForbidden(context, colour) {
    const f = this.frame;
    const within = (value, low, high) => Math.min(Math.max(value, low), high);
    context.strokeStyle = context.fillStyle = colour("forbidden");
    const band = (horizontal, from, to, line) => {
      const [low, high] = horizontal ? [f.left, f.right] : [f.top, f.bottom];
      const a = within(Math.min(from, to), low, high), b = within(Math.max(from, to), low, high);
      context.globalAlpha = 0.09;
      if (horizontal) context.fillRect(a, f.top, b - a, f.bottom - f.top);
      else context.fillRect(f.left, a, f.right - f.left, b - a);
      context.globalAlpha = 1;
      if (line < low || line > high) return;
      context.setLineDash([6, 4]);
      context.lineWidth = 1.4;
      context.beginPath();
      if (horizontal) (context.moveTo(line, f.top), context.lineTo(line, f.bottom));
      else (context.moveTo(f.left, line), context.lineTo(f.right, line));
      context.stroke();
      context.setLineDash([]);
    };
    const limits = [[true, this.x, (v) => this.px(this.x.fraction(v)), f.right, f.left], [false, this.y, (v) => this.py(this.y.fraction(v)), f.top, f.bottom]];
    for (const [horizontal, scale, place, far, near] of limits) {
      const limit = scale.measure.limit || {};
      if (limit.most !== undefined) band(horizontal, place(limit.most), far, place(limit.most));
      if (limit.least !== undefined) band(horizontal, place(limit.least), near, place(limit.least));
    }
  }

  drawAxes(context, colour) {
    const f = this.frame;
    context.font = "12px " + colour("sans");
    context.lineWidth = 1;
    const xs = this.x.ticks(this.view.left, this.view.right, Math.max(3, Math.round((f.right - f.left) / 95)));
    const ys = this.y.ticks(this.view.bottom, this.view.top, Math.max(3, Math.round((f.bottom - f.top) / 65)));
    context.strokeStyle = colour("rule");
    context.beginPath();
    for (const value of xs) {
      const x = Math.round(this.px(this.x.fraction(value))) + 0.5;
      context.moveTo(x, f.top);
      context.lineTo(x, f.bottom);
    }
    for (const value of ys) {
      const y = Math.round(this.py(this.y.fraction(value))) + 0.5;
      context.moveTo(f.left, y);
      context.lineTo(f.right, y);
    }
    context.stroke();
    context.strokeStyle = colour("edge");
    context.beginPath();
    context.moveTo(f.left + 0.5, f.top);
    context.lineTo(f.left + 0.5, f.bottom + 0.5);
    context.lineTo(f.right, f.bottom + 0.5);
    context.stroke();
    context.fillStyle = colour("soft");
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const value of xs) context.fillText(printed(this.x.measure, value), this.px(this.x.fraction(value)), f.bottom + 7);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of ys) context.fillText(printed(this.y.measure, value), f.left - 7, this.py(this.y.fraction(value)));
    context.fillStyle = colour("ink");
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillText(this.x.label, (f.left + f.right) / 2, this.height - 3, f.right - f.left);
    context.save();
    context.translate(3, (f.top + f.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "top";
    context.fillText(this.y.label, 0, 0, f.bottom - f.top);
    context.restore();
  }

  drawLine(context, colour) {
    context.strokeStyle = colour("soft");
    context.lineWidth = 1.4;
    context.beginPath();
    this.line.forEach((row, i) => {
      const [x, y] = this.place(row);
      if (!i) return context.moveTo(x, y);
      context.lineTo(x, this.place(this.line[i - 1])[1]);
      context.lineTo(x, y);
    });
    context.stroke();
  }

  drawPoints(context, colour) {
    const paths = new Map();
    const seen = this.drawn.filter((row) => this.isSeen(row));
    const crowded = seen.length > 1200;
    for (const row of seen) {
      const efficient = this.isEfficient.has(row);
      const family = this.all.family[row];
      const key = efficient ? family + 1000 : family;
      if (!paths.has(key)) paths.set(key, new Path2D());
      const [x, y] = this.place(row);
      addShape(paths.get(key), this.arrow(row) || this.all.families[family].shape, x, y, efficient ? 5 : crowded ? 2.6 : 4);
    }
    for (const key of [...paths.keys()].sort((a, b) => a - b)) {
      const own = colour(this.all.families[key % 1000].colour);
      const faint = crowded && key < 1000;
      context.lineWidth = faint ? 0.8 : 1.3;
      context.globalAlpha = faint ? 0.6 : 1;
      context.fillStyle = key >= 1000 ? own : colour("paper");
      context.strokeStyle = own;
      if (!faint) context.fill(paths.get(key));
      context.stroke(paths.get(key));
    }
    context.globalAlpha = 1;
    this.crossOut(context, colour, seen.filter((row) => !this.all.keeps[row]), crowded);
  }

  // What breaks the policy is crossed out, whichever two measures are drawn.
  crossOut(context, colour, rows, crowded) {
    const size = crowded ? 2.6 : 4.5;
    context.strokeStyle = colour("forbidden");
    context.lineWidth = crowded ? 0.7 : 1.3;
    context.globalAlpha = crowded ? 0.5 : 1;
    context.beginPath();
    for (const row of rows) {
      const [x, y] = this.place(row);
      context.moveTo(x - size, y - size);
      context.lineTo(x + size, y + size);
      context.moveTo(x - size, y + size);
      context.lineTo(x + size, y - size);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  arrow(row) {
    const x = this.x.measure.values[row], y = this.y.measure.values[row];
    if (!Number.isFinite(y)) return y > 0 ? "^" : "v";
    if (!Number.isFinite(x)) return x > 0 ? ">" : "<";
    return null;
  }

  drawMarks(context, colour) {
    context.strokeStyle = context.fillStyle = colour("ink");
    context.lineWidth = 1.4;
    const ring = (row, size, dash) => {
      if (row < 0 || !this.isSeen(row)) return;
      const [x, y] = this.place(row);
      context.setLineDash(dash);
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.stroke();
      context.setLineDash([]);
    };
    ring(this.knee, 10, [2, 3]);
    ring(this.chosen, 13, []);
    const placed = [];
    const write = (row, text, aside = 0, below = 0) => {
      if (row < 0 || !this.isSeen(row)) return;
      const [x, y] = this.place(row);
      const width = context.measureText(text).width;
      const right = aside < 0 ? x - 14 - width < this.frame.left : x + 14 + width < this.frame.right;
      const from = right ? x + 14 : x - 14 - width;
      let line = Math.min(Math.max(y + below, this.frame.top + 8), this.frame.bottom - 8);
      for (const step of [0, -16, 16, -32, 32]) {
        const free = placed.every(([l, t, w]) => Math.abs(t - line - step) > 14 || from > l + w + 4 || from + width < l - 4);
        if (!free || line + step < this.frame.top || line + step > this.frame.bottom) continue;
        line += step;
        break;
      }
      placed.push([from, line, width]);
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.lineWidth = 4;
      context.lineJoin = "round";
      context.strokeStyle = colour("paper");
      context.strokeText(text, from, line);
      context.fillText(text, from, line);
    };
    context.font = "12px " + colour("sans");
    // on the side where nothing can be
    const better = [this.x, this.y].map((scale) => (scale.measure.better === "lower" ? -1 : 1));
    write(this.knee, "knee", better[0], -8 * better[1]);
    for (const [row, text] of Object.entries(this.all.ends)) if (this.drawn.includes(Number(row))) write(Number(row), text);
  }
}
