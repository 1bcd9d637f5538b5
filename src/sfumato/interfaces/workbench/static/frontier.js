// The frontier on the explore page: fetch the candidates, draw them, and follow pointer, keys and exploration.
import { printed, shapeIcon } from "./chart.js";
import { Parallel } from "./parallel.js";
import { Plane } from "./plane.js";

let chart = null;
let all = null;
let current = -1;
let waiting = false;
let loading = Promise.resolve();

const part = (id) => document.getElementById(id);

function measureOf(label) {
  return all.measures.find((measure) => measure.label === label);
}

function chosenAxes() {
  const form = new FormData(part("axes"));
  return form.getAll("axis").map(measureOf).filter(Boolean);
}

// One after the other, so that what came earlier never takes the place of what came later.
function load() {
  loading = loading.catch(() => {}).then(fetchCandidates);
  return loading;
}

async function fetchCandidates() {
  const place = part("frontier");
  if (!place) return;
  const address = new URL(place.dataset.source, location.href);
  if (all) address.searchParams.set("stamp", all.stamp);
  let response = await fetch(address, { credentials: "same-origin" });
  while (response.status === 202) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    response = await fetch(address, { credentials: "same-origin" });
  }
  if (response.status === 204) return;
  if (!response.ok) throw new Error("no candidates came");
  const sent = await response.json();
  for (const measure of sent.measures) {
    measure.values = Float64Array.from(measure.values, (value) => (value === null ? NaN : Number(value)));
  }
  const kept = current >= 0 && all ? all.ids[current] : null;
  all = sent;
  current = kept ? all.ids.indexOf(kept) : -1;
}

function arrange() {
  const axes = chosenAxes();
  if (axes.length < 2) return;
  chart.show(all, axes);
  const chosen = part("details")?.dataset.id;
  chart.chosen = chosen ? all.ids.indexOf(chosen) : -1;
  part("canvas").setAttribute("aria-label", `${chart.drawn.length} candidates, ${chart.front.length} of them efficient: ${axes.map((m) => m.title).join(", ")}`);
  redraw();
}

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const place = part("chart");
    if (!place || !chart?.all) return;
    const width = place.clientWidth, height = Math.max(Math.min(width * 0.62, 560), 330);
    const canvas = part("canvas");
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    chart.resize(width, height);
    chart.draw();
    pointTo(current, false);
    performance.mark("sfumato-drawn");
  });
}

function begin() {
  const place = part("chart");
  if (!place || !all) return;
  chart = part("frontier").dataset.view === "parallel" ? new Parallel(part("canvas")) : new Plane(part("canvas"));
  place.hidden = false;
  part("chart-waits").hidden = true;
  place.classList.toggle("parallel", chart instanceof Parallel);
  listen(place);
  arrange();
  legend();
  new ResizeObserver(redraw).observe(place);
  window.sfumatoChart = chart;
}

// The link that lies on the candidate which is pointed at: a press shows its figures, other presses open it.
function pointTo(row, speak = true) {
  const link = part("point"), tip = part("tip");
  current = row;
  const seen = row >= 0 && chart.drawn.includes(row) && chart.isSeen(row);
  link.hidden = tip.hidden = !seen;
  if (!seen) return;
  const [x, y] = chart.place(row);
  link.style.transform = `translate(${x}px, ${y}px)`;
  link.href = part("frontier").dataset.releases + all.ids[row];
  link.setAttribute("aria-label", all.recipes[row]);
  const figures = chart.measures.map((m) => `${m.title} ${printed(m, m.values[row])}`);
  const lines = [all.recipes[row], ...figures, ...(all.keeps[row] ? [] : ["breaks the policy"])];
  tip.replaceChildren(...lines.map((text, i) => Object.assign(document.createElement(i ? "span" : "strong"), { textContent: text })));
  tip.classList.toggle("broken", !all.keeps[row]);
  const room = part("chart").clientWidth, wide = tip.offsetWidth, tall = tip.offsetHeight;
  const left = Math.min(Math.max(x + 16 + wide > room ? x - 16 - wide : x + 16, 0), Math.max(room - wide, 0));
  const top = y - 12 - tall > 0 ? y - 12 - tall : y + 14;
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  if (speak) part("said").textContent = lines.join(", ") + (chart.isEfficient.has(row) ? ", efficient" : "");
}

function listen(place) {
  let start = null;
  const at = (event) => {
    const box = part("canvas").getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const isPlane = chart instanceof Plane;
  place.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const [x, y] = at(event);
    const axis = isPlane ? -1 : chart.axisAt(x);
    start = { x, y, axis, moved: false, touch: event.pointerType === "touch", pan: event.shiftKey, last: [x, y] };
  });
  place.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (!start) return pointTo(chart.nearest(x, y), false);
    if (Math.hypot(x - start.x, y - start.y) > 5) start.moved = true;
    if (!start.moved || (start.touch && isPlane)) return;
    if (!place.hasPointerCapture(event.pointerId)) place.setPointerCapture(event.pointerId);
    if (!isPlane) {
      if (start.axis >= 0) chart.brush(start.axis, start.y, y);
      narrow();
    } else if (start.pan) {
      chart.move(x - start.last[0], y - start.last[1]);
      start.last = [x, y];
    } else chart.box = { x0: start.x, y0: start.y, x1: x, y1: y };
    redraw();
  });
  const end = (event) => {
    if (!start) return;
    const { moved, axis, pan, touch } = start;
    start = null;
    const box = chart.box;
    chart.box = null;
    if (!isPlane && !moved && axis >= 0 && chart.brushes.delete(chart.scales[axis].measure.label)) narrow();
    else if (moved && isPlane && !pan && !touch && box) chart.seeBox(box);
    else if (!moved && event.type === "pointerup") {
      const row = chart.nearest(...at(event));
      if (touch) pointTo(row);
      if (row >= 0 && !event.ctrlKey && !event.metaKey) choose(row);
    }
    redraw();
  };
  place.addEventListener("pointerup", end);
  place.addEventListener("pointercancel", end);
  place.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && !start && pointTo(-1, false));
  part("point").addEventListener("click", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) event.preventDefault();
  });
  part("point").draggable = false;
  part("canvas").addEventListener("wheel", (event) => {
    if (!isPlane || (!event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    chart.zoom(Math.exp(-event.deltaY / 300), ...at(event));
    redraw();
  }, { passive: false });
  place.addEventListener("dblclick", () => {
    chart.whole();
    narrow();
    redraw();
  });
  part("zooms").hidden = false;
  for (const button of part("zooms").querySelectorAll("[data-zoom]")) {
    button.hidden = !isPlane && button.dataset.zoom !== "reset";
    button.addEventListener("click", () => zoom(button.dataset.zoom));
  }
  part("canvas").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const zooms = { "+": "in", "=": "in", "-": "out", "0": "reset" };
    if (zooms[event.key]) zoom(zooms[event.key]);
    else if (event.key === "Enter" && current >= 0) choose(current);
    else if (event.key === "Escape") pointTo(-1);
    else if (event.key.startsWith("Arrow") && event.shiftKey && isPlane) {
      const way = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
      chart.move(...way);
    } else if (event.key.startsWith("Arrow")) pointTo(chart.step(current, event.key));
    else return;
    event.preventDefault();
    redraw();
  });
  part("canvas").addEventListener("blur", () => pointTo(-1, false));
}

function zoom(how) {
  if (how === "reset") chart.whole();
  else if (chart.zoom) chart.zoom(how === "in" ? 1.5 : 1 / 1.5);
  narrow();
  redraw();
}

// Fields from which the brushes can be set without a pointer.
function narrow() {
  const box = part("narrow");
  if (!box) return;
  for (const input of box.querySelectorAll("input")) {
    if (input === document.activeElement) continue;
    const brush = chart.brushes.get(input.dataset.label);
    input.value = brush ? String(Number(brush[input.dataset.end].toPrecision(4))) : "";
  }
}

function narrowing() {
  const box = Object.assign(document.createElement("details"), { id: "narrow", className: "narrow" });
  box.append(Object.assign(document.createElement("summary"), { textContent: "Narrow down by numbers" }));
  for (const { measure } of chart.scales) {
    const row = document.createElement("p");
    row.append(measure.title + " from ");
    for (const end of ["low", "high"]) {
      const input = Object.assign(document.createElement("input"), { type: "text", size: 8, inputMode: "decimal" });
      input.dataset.label = measure.label;
      input.dataset.end = end;
      input.setAttribute("aria-label", `${measure.title}, ${end === "low" ? "from" : "to"}`);
      input.addEventListener("change", () => {
        const ends = [...row.querySelectorAll("input")].map((input) => input.value.trim());
        if (ends.every((text) => text === "")) chart.brushes.delete(measure.label);
        else chart.brushes.set(measure.label, { low: ends[0] === "" ? -Infinity : Number(ends[0]), high: ends[1] === "" ? Infinity : Number(ends[1]) });
        redraw();
      });
      row.append(input, end === "low" ? " to " : "");
    }
    box.append(row);
  }
  return box;
}

function legend() {
  const list = part("legend");
  const items = all.families.map((family, i) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet" });
    button.append(shapeIcon(family.shape, family.colour), family.name);
    button.setAttribute("aria-pressed", String(!chart.hidden.has(i)));
    button.title = "Show or hide these";
    button.addEventListener("click", () => {
      if (!chart.hidden.delete(i)) chart.hidden.add(i);
      button.setAttribute("aria-pressed", String(!chart.hidden.has(i)));
      redraw();
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  const isPlane = chart instanceof Plane;
  const broken = all.keeps.every(Boolean) ? "" : isPlane ? " · crossed out: breaks the policy" : " · dashed: breaks the policy";
  const meaning = (isPlane ? "filled: efficient · hollow: another is better" : "coloured: efficient · grey: another is better") + broken;
  items.push(Object.assign(document.createElement("li"), { textContent: meaning, className: "soft" }));
  list.replaceChildren(...items);
  part("narrow")?.remove();
  if (chart instanceof Parallel) list.after(narrowing());
}

async function choose(row) {
  chart.chosen = row;
  const address = new URL(location.href);
  address.searchParams.set("id", all.ids[row]);
  history.replaceState({}, "", address);
  for (const line of document.querySelectorAll("#candidates tr[data-id]")) line.classList.toggle("chosen", line.dataset.id === all.ids[row]);
  await details(address);
  redraw();
}

async function details(address) {
  const target = new URL(part("frontier").dataset.details, location.href);
  target.search = address.search;
  const { page } = await window.fetched(target);
  window.swap(page, "details");
}

// Other axes: the picture changes at once, the list and the address follow.
document.addEventListener("change", async (event) => {
  if (event.target.form?.id !== "axes" || !chart) return;
  const axes = chosenAxes();
  if (axes.length < 2) return;
  arrange();
  legend();
  const address = new URL(location.href);
  address.searchParams.delete("axis");
  for (const measure of axes) address.searchParams.append("axis", measure.label);
  for (const name of ["page", "sort", "order"]) address.searchParams.delete(name);
  history.pushState({}, "", address);
  await refresh(address);
});

document.addEventListener("submit", (event) => {
  if (event.target.id === "axes" && chart) event.preventDefault();
});

async function refresh(address) {
  const { page } = await window.fetched(address);
  for (const id of ["candidates", "details", "views"]) window.swap(page, id);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-choose]");
  if (!link || !all || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  choose(all.ids.indexOf(link.dataset.choose));
});

// The exploration goes on: new candidates are fetched, and what is seen of the picture stays.
document.addEventListener("sfumato:swapped", async (event) => {
  if (event.target.id === "candidates") return sorted();
  if (event.target.id !== "job") return;
  const stamp = event.target.dataset.stamp;
  if ((all?.stamp || part("frontier")?.dataset.stamp || "0") === stamp) return;
  if (!part("chart")) {
    const { page } = await window.fetched(location.href);
    if (!page.getElementById("chart")) window.swap(page, "frontier");
    else if (window.swap(page, "main")) await open();
    return;
  }
  try {
    await load();
  } catch {
    return; // the next look at the exploration tries again
  }
  if (!chart) return begin();
  const grown = chart.all?.families.length !== all.families.length;
  arrange();
  if (grown) legend();
  refresh(location.href);
});

function sorted() {
  const chosen = all && chart?.chosen >= 0 ? all.ids[chart.chosen] : "";
  for (const line of document.querySelectorAll("#candidates tr[data-id]")) line.classList.toggle("chosen", line.dataset.id === chosen);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

async function open() {
  if (!part("chart")) return;
  part("chart-waits").hidden = false;
  try {
    await load();
    begin();
  } catch {
    part("chart-waits").textContent = "The candidates could not be loaded. Load the page again.";
  }
}

open();
