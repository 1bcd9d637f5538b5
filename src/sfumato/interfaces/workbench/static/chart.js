// What both pictures of the frontier share: numbers, scales, shapes, and who is efficient.

const MINUS = "\u2212";

export function number(value, digits = 4) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : MINUS + "∞";
  const size = Math.abs(value);
  let shown;
  if (size >= 1000 && size < 1e15) shown = Math.round(size).toLocaleString("en-US");
  else if (size && size < 1e-4) shown = size.toExponential(digits - 1).replace(/\.?0*e-(\d)$/, "e-0$1").replace(/\.?0*e/, "e");
  else shown = String(Number(size.toPrecision(digits)));
  return value < 0 ? MINUS + shown : shown;
}

export function printed(measure, value) {
  if (value === null || Number.isNaN(value)) return "not applicable";
  if (measure.unit !== "share" || !Number.isFinite(value)) return number(value);
  return value >= 0.9995 && value < 1 ? ">99.9%" : number(100 * value, 3) + "%";
}

export function colours() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue("--" + name).trim();
}

// One axis. A fraction of it is a place between its ends; infinite values lie just inside the border.
export class Scale {
  constructor(measure, low, high, log, whole) {
    Object.assign(this, { measure, low, high, log, whole });
  }

  static of(measure) {
    const limit = measure.limit || {};
    const ends = [limit.least, limit.most].filter((end) => end !== undefined);
    let low = Infinity, high = -Infinity, whole = true;
    let lowest = false, highest = false;
    for (const value of [...measure.values, ...ends]) {
      if (Number.isNaN(value)) continue;
      if (value === Infinity) highest = true;
      else if (value === -Infinity) lowest = true;
      else {
        if (value < low) low = value;
        if (value > high) high = value;
        whole = whole && value === Math.round(value);
      }
    }
    if (low > high) [low, high] = [0, 1];
    const log = low > 0 && high / low >= 100;
    whole = whole && high - low > 4;
    if (low === high) [low, high] = low ? [low - Math.abs(low) / 2, high + Math.abs(high) / 2] : [0, 1];
    const before = lowest ? 0.16 : 0.06, behind = highest ? 0.16 : 0.06;
    if (log) {
      const ratio = high / low;
      return new Scale(measure, low / ratio ** before, high * ratio ** behind, log, whole);
    }
    const span = high - low;
    return new Scale(measure, low - before * span, high + behind * span, log, whole);
  }

  at(fraction) {
    return this.log ? this.low * (this.high / this.low) ** fraction : this.low + fraction * (this.high - this.low);
  }

  fraction(value) {
    if (!Number.isFinite(value)) return value > 0 ? 0.96 : 0.04;
    if (this.log) return Math.log(value / this.low) / Math.log(this.high / this.low);
    return (value - this.low) / (this.high - this.low);
  }

  get label() {
    return `${this.measure.title} (${this.measure.better} is better${this.log ? ", log scale" : ""})`;
  }

  // Round values between two fractions, about so many.
  ticks(from, to, wanted) {
    const low = this.at(from), high = this.at(to);
    if (this.log && high / low >= 20) {
      const ticks = [];
      const factors = high / low > 10 ** (wanted / 2) ? [1] : high / low > 10 ** (wanted / 3) ? [1, 3] : [1, 2, 5];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        for (const factor of factors) {
          const value = factor * 10 ** power;
          if (value >= low && value <= high) ticks.push(value);
        }
      }
      return ticks;
    }
    const rough = (high - low) / wanted;
    const unit = 10 ** Math.floor(Math.log10(rough));
    let step = unit * [1, 2, 5, 10].find((factor) => unit * factor >= rough);
    if (this.whole) step = Math.max(1, Math.round(step));
    const ticks = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
  }
}

// For each row whether no other is nowhere worse and somewhere better on these measures.
export function efficientOf(measures, n) {
  const signed = measures.map((m) => (m.better === "lower" ? m.values : m.values.map((value) => -value)));
  const rows = [];
  for (let row = 0; row < n; row++) if (signed.every((values) => !Number.isNaN(values[row]))) rows.push(row);
  const compare = (a, b) => {
    for (const values of signed) if (values[a] !== values[b]) return values[a] < values[b] ? -1 : 1;
    return 0;
  };
  rows.sort(compare);
  const kept = [];
  // of rows in this order only an earlier one can dominate
  const dominates = (a, b) => signed.every((values) => values[a] <= values[b]);
  for (const row of rows) {
    let beaten = false;
    for (let i = kept.length - 1; i >= 0 && !beaten; i--) {
      beaten = dominates(kept[i], row) && compare(kept[i], row) !== 0;
    }
    if (!beaten) kept.push(row);
  }
  return kept;
}

// The efficient row farthest from the line between the two ends of the front, both axes scaled to it.
export function kneeOf(front, measures) {
  const signs = measures.map((m) => (m.better === "lower" ? 1 : -1));
  const finite = front.filter((row) => measures.every((m) => Number.isFinite(m.values[row])));
  if (finite.length < 3) return -1;
  const columns = measures.slice(0, 2).map((m, i) => finite.map((row) => signs[i] * m.values[row]));
  const lows = columns.map((column) => Math.min(...column));
  const spans = columns.map((column, i) => Math.max(...column) - lows[i]);
  if (spans.some((span) => span === 0)) return -1;
  let best = -1, gain = 1e-9;
  finite.forEach((row, i) => {
    const own = 1 - (columns[0][i] - lows[0]) / spans[0] - (columns[1][i] - lows[1]) / spans[1];
    if (own > gain) [best, gain] = [row, own];
  });
  return best;
}

const turn = (n, start) => Array.from({ length: n }, (_, i) => {
  const angle = start + (2 * Math.PI * i) / n;
  return [Math.cos(angle), Math.sin(angle)];
});
const UP = -Math.PI / 2;
const PLUS = [[-0.4, -1], [0.4, -1], [0.4, -0.4], [1, -0.4], [1, 0.4], [0.4, 0.4], [0.4, 1], [-0.4, 1], [-0.4, 0.4], [-1, 0.4], [-1, -0.4], [-0.4, -0.4]];
const SHAPES = {
  o: turn(20, 0),
  s: [[-0.86, -0.86], [0.86, -0.86], [0.86, 0.86], [-0.86, 0.86]],
  D: [[0, -1.15], [1.15, 0], [0, 1.15], [-1.15, 0]],
  P: PLUS,
  p: turn(5, UP),
  h: turn(6, UP),
  v: turn(3, -UP).map(([x, y]) => [1.15 * x, 1.15 * y]),
  "^": turn(3, UP).map(([x, y]) => [1.15 * x, 1.15 * y]),
  ">": turn(3, 0).map(([x, y]) => [1.15 * x, 1.15 * y]),
  "<": turn(3, Math.PI).map(([x, y]) => [1.15 * x, 1.15 * y]),
  X: PLUS.map(([x, y]) => [(x - y) * 0.75, (x + y) * 0.75]),
};

export function addShape(path, shape, x, y, size) {
  if (shape === "o") {
    path.moveTo(x + size, y);
    path.arc(x, y, size, 0, 2 * Math.PI);
    return;
  }
  const corners = SHAPES[shape] || SHAPES.o;
  path.moveTo(x + size * corners[0][0], y + size * corners[0][1]);
  for (let i = 1; i < corners.length; i++) path.lineTo(x + size * corners[i][0], y + size * corners[i][1]);
  path.closePath();
}

export function shapeIcon(shape, colour) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "-8 -8 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  const corners = (SHAPES[shape] || SHAPES.o).map(([x, y]) => `${(6 * x).toFixed(2)},${(6 * y).toFixed(2)}`);
  path.setAttribute("d", `M${corners.join("L")}Z`);
  path.setAttribute("class", colour);
  svg.append(path);
  return svg;
}

// Make a canvas as sharp as the screen and return its context, measured in the page's pixels.
export function sharp(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// The next of these rows for an arrow key: forward to the right and downward; -1 if there are none.
export function neighbour(rows, row, key) {
  if (!rows.length) return -1;
  const here = rows.indexOf(row);
  const step = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  if (here < 0) return rows[step > 0 ? 0 : rows.length - 1];
  return rows[Math.min(Math.max(here + step, 0), rows.length - 1)];
}
