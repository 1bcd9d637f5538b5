// The frontier on the explore page: fetch what the server drew, and follow pointer, keys and exploration.
import { icon } from "./chart.js";
import { Parallel } from "./parallel.js";
import { Plane } from "./plane.js";

let chart = null;
let all = null;
let current = -1;
let waiting = false;
let loading = Promise.resolve();

const part = (id) => document.getElementById(id);
const isPlane = () => part("frontier")?.dataset.view === "plane";

// One after the other, so that what came earlier never takes the place of what came later.
function load(changes = {}) {
  loading = loading.catch(() => {}).then(() => fetchCandidates(changes));
  return loading;
}

async function fetchCandidates({ zoom = null, whole = false, stamp = "" }) {
  const place = part("frontier");
  if (!place) return;
  const address = new URL(place.dataset.source, location.href);
  address.search = location.search;
  for (const [name, value] of Object.entries({
    stamp, window: whole ? "" : all?.window ?? "", part: zoom ? zoom.join() : "", ...size(),
  })) if (value) address.searchParams.set(name, value);
  let response = await fetch(address, { credentials: "same-origin" });
  while (response.status === 202) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    response = await fetch(address, { credentials: "same-origin" });
  }
  if (response.status === 204) return;
  if (!response.ok) throw new Error("no candidates came");
  const sent = await response.json();
  const kept = current >= 0 && all ? all.ids[current] : null;
  all = sent;
  current = kept ? all.ids.indexOf(kept) : -1;
}

// The size of the picture: it fills the screen below its head, and is never flat.
function size() {
  const place = part("chart-place");
  const width = place.clientWidth;
  const above = place.getBoundingClientRect().top + scrollY;
  const free = matchMedia("(min-width: 1100px)").matches ? innerHeight - above - (width < 560 ? 250 : 215) : width * 0.75;
  return { width: Math.round(width), height: Math.round(Math.min(Math.max(free, 260), 820)) };
}

function arrange() {
  chart.show(all);
  const chosen = part("details")?.dataset.id;
  chart.chosen = chosen && new URLSearchParams(location.search).has("id") ? all.ids.indexOf(chosen) : -1;
  if (isPlane()) placeLimits();
  redraw();
}

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (!part("chart") || !chart?.all) return;
    if (!isPlane()) {
      const { width, height } = size();
      const canvas = part("canvas");
      canvas.style.width = width + "px";
      canvas.style.height = height + "px";
      chart.resize(width, height);
    }
    chart.draw();
    pointTo(current, false);
    ring();
    performance.mark("sfumato-drawn");
  });
}

function begin() {
  const place = part("chart");
  if (!place || !all) return;
  chart = isPlane() ? new Plane(part("canvas")) : new Parallel(part("canvas"));
  place.hidden = false;
  part("chart-waits").hidden = true;
  place.classList.toggle("parallel", !isPlane());
  listen(place);
  arrange();
  legend();
  let before = JSON.stringify(size());
  new ResizeObserver(async () => {
    if (JSON.stringify(size()) === before || !part("chart")) return;
    before = JSON.stringify(size());
    if (isPlane()) {
      placeLimits();
      ring();
      await see();
    } else redraw();
  }).observe(part("chart-place"));
  window.sfumatoChart = chart;
}

function put(element, [x, y]) {
  element.style.transform = `translate(${x}px, ${y}px)`;
}

// The ring around the chosen candidate.
function ring() {
  const row = chart.chosen;
  part("ring").hidden = !isPlane() || row < 0 || !chart.isSeen(row);
  if (!part("ring").hidden) put(part("ring"), chart.place(row));
}

// The link that lies on the candidate which is pointed at: a press shows its figures, other presses open it.
function pointTo(row, speak = true) {
  const link = part("point"), tip = part("tip");
  current = row;
  const seen = row >= 0 && chart.drawn.includes(row) && chart.isSeen(row);
  link.hidden = tip.hidden = !seen;
  if (!seen) return;
  const [x, y] = chart.place(row);
  put(link, [x, y]);
  link.href = part("frontier").dataset.releases + all.ids[row];
  link.setAttribute("aria-label", all.recipes[row]);
  const broken = all.broken[row] ? [`against the policy: ${all.broken[row]}`] : [];
  const lines = [all.recipes[row], ...all.figures[row], ...(row === all.knee ? [all.knee_words] : []), ...broken];
  tip.replaceChildren(...lines.map((text, i) => Object.assign(document.createElement(i ? "span" : "strong"), { textContent: text })));
  tip.classList.toggle("broken", broken.length > 0);
  const room = part("chart").clientWidth, wide = tip.offsetWidth, tall = tip.offsetHeight;
  const left = Math.min(Math.max(x + 16 + wide > room ? x - 16 - wide : x + 16, 0), Math.max(room - wide, 0));
  put(tip, [Math.round(left), Math.round(y - 12 - tall > 0 ? y - 12 - tall : y + 14)]);
  if (speak) part("said").textContent = lines.join(", ") + (chart.isEfficient.has(row) ? ", efficient" : "");
}

function listen(place) {
  let start = null;
  const at = (event) => {
    const box = part("canvas").getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  place.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const [x, y] = at(event);
    start = { x, y, axis: isPlane() ? -1 : chart.axisAt(x), moved: false, touch: event.pointerType === "touch" };
  });
  place.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (!start) return pointTo(chart.nearest(x, y), false);
    if (Math.hypot(x - start.x, y - start.y) > 5) start.moved = true;
    if (!start.moved || (start.touch && isPlane())) return;
    if (!place.hasPointerCapture(event.pointerId)) place.setPointerCapture(event.pointerId);
    if (!isPlane()) {
      if (start.axis >= 0) chart.brush(start.axis, start.y, y);
      narrow();
      return redraw();
    }
    const box = part("box");
    box.hidden = false;
    put(box, [Math.min(x, start.x), Math.min(y, start.y)]);
    box.style.width = Math.abs(x - start.x) + "px";
    box.style.height = Math.abs(y - start.y) + "px";
  });
  const end = (event) => {
    if (!start) return;
    const [x, y] = at(event);
    const { x: x0, y: y0, moved, axis, touch } = start;
    start = null;
    if (isPlane()) part("box").hidden = true;
    if (!isPlane() && !moved && axis >= 0 && chart.brushes.delete(all.measures[axis].label)) narrow();
    else if (moved && isPlane() && !touch && event.type === "pointerup") see({ zoom: chart.part({ x0, y0, x1: x, y1: y }) });
    else if (!moved && event.type === "pointerup") {
      const row = chart.nearest(x, y);
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
  place.addEventListener("dblclick", () => zoom("reset"));
  part("zooms").hidden = false;
  for (const button of part("zooms").querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(button.dataset.zoom));
  }
  part("canvas").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const zooms = { "+": "in", "=": "in", "-": "out", "0": "reset" };
    const moves = { ArrowLeft: [-0.1, 0.9, 0, 1], ArrowRight: [0.1, 1.1, 0, 1], ArrowUp: [0, 1, 0.1, 1.1], ArrowDown: [0, 1, -0.1, 0.9] };
    if (zooms[event.key]) zoom(zooms[event.key]);
    else if (event.key === "Enter" && current >= 0) choose(current);
    else if (event.key === "Escape") pointTo(-1);
    else if (moves[event.key] && event.shiftKey && isPlane()) see({ zoom: moves[event.key] });
    else if (moves[event.key]) pointTo(chart.step(current, event.key));
    else return;
    event.preventDefault();
    redraw();
  });
  part("canvas").addEventListener("blur", () => pointTo(-1, false));
  if (isPlane()) [0, 1].forEach(limit);
}

// Have the picture drawn again, perhaps a part of it; one that does not come leaves the last.
async function see(changes = {}) {
  try {
    await load(changes);
  } catch {
    return;
  }
  arrange();
}

function zoom(how) {
  if (isPlane()) {
    const edge = how === "in" ? 1 / 6 : -1 / 4;
    return see(how === "reset" ? { whole: true } : { zoom: [edge, 1 - edge, edge, 1 - edge] });
  }
  if (how === "reset") chart.whole();
  narrow();
  redraw();
}

// A limit is a slider: it can be put at the value of each candidate, or taken away beyond the worst of them.
function choices({ sign, stops, none }) {
  const away = [none, "", "no limit"];
  return sign === "<=" ? [...stops, away] : [away, ...stops];
}

function choiceOf(limit) {
  return choices(limit).findIndex(([, value]) => value === limit.at);
}

function showLimit(number, choice) {
  const limit = all.limits[number], line = part(`limit-${number}`);
  const every = choices(limit), shown = Math.max(choice, 0);
  const [left, top, right, bottom] = all.frame.map((side) => side * chart.ratio);
  const place = every[shown][0] * chart.ratio;
  line.hidden = choice < 0;
  put(line, number ? [left, place] : [place, top]);
  line.style[number ? "width" : "height"] = (number ? right - left : bottom - top) + "px";
  const words = every[shown][1] ? `${limit.sign === "<=" ? "at most" : "at least"} ${every[shown][2]}` : "no limit";
  const facts = { label: `Limit of ${limit.title}`, valuemin: 0, valuemax: every.length - 1, valuenow: shown, valuetext: words };
  for (const [name, value] of Object.entries(facts)) line.setAttribute("aria-" + name, value);
  line.title = `${limit.title}: ${words}`;
  line.classList.toggle("none", !every[shown][1]);
}

function placeLimits() {
  all.limits.forEach((limit, number) => showLimit(number, choiceOf(limit)));
}

function limit(number) {
  const line = part(`limit-${number}`);
  let choice = null, timer = 0;
  const show = (wanted) => {
    choice = Math.min(Math.max(wanted, 0), choices(all.limits[number]).length - 1);
    showLimit(number, choice);
  };
  const keep = () => {
    clearTimeout(timer);
    if (choice !== null && choice !== choiceOf(all.limits[number])) setLimit(number, choice);
    choice = null;
  };
  line.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    line.setPointerCapture(event.pointerId);
    choice = choiceOf(all.limits[number]);
  });
  line.addEventListener("pointermove", (event) => {
    event.stopPropagation();
    pointTo(-1, false);
    if (choice === null || !line.hasPointerCapture(event.pointerId)) return;
    const box = part("canvas").getBoundingClientRect();
    const at = (number ? event.clientY - box.top : event.clientX - box.left) / chart.ratio;
    const far = choices(all.limits[number]).map(([place]) => Math.abs(place - at));
    show(far.indexOf(Math.min(...far)));
  });
  line.addEventListener("pointerup", (event) => {
    event.stopPropagation();
    keep();
  });
  line.addEventListener("pointercancel", () => { choice = null; placeLimits(); });
  line.addEventListener("keydown", (event) => {
    const now = choice ?? choiceOf(all.limits[number]);
    const last = choices(all.limits[number]).length - 1;
    const tenth = Math.max(Math.round(last / 10), 1);
    const ways = {
      ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1,
      PageUp: now + tenth, PageDown: now - tenth, Home: 0, End: last,
    };
    if (!(event.key in ways)) return;
    event.preventDefault();
    show(ways[event.key]);
    clearTimeout(timer);
    timer = setTimeout(keep, 500);
  });
  line.addEventListener("blur", keep);
}

async function setLimit(number, choice) {
  const { label, sign } = all.limits[number];
  const address = new URL(location.href);
  const others = address.searchParams.getAll("limit").filter((written) => written.split(/<=|>=/)[0] !== label);
  address.searchParams.delete("limit");
  for (const written of [...others, label + sign + choices(all.limits[number])[choice][1]]) address.searchParams.append("limit", written);
  address.searchParams.delete("page");
  history.pushState({}, "", address);
  await see();
  await refresh(address);
  part("said").textContent = part(`limit-${number}`).title + `, ${chart.front.length} efficient candidates keep the limits`;
}

// Fields from which the brushes can be set without a pointer.
function narrow() {
  const box = part("narrow");
  if (!box) return;
  for (const input of box.querySelectorAll("input")) {
    if (input === document.activeElement) continue;
    const end = chart.brushes.get(input.dataset.label)?.[input.dataset.end];
    input.value = Number.isFinite(end) ? String(Number(end.toPrecision(4))) : "";
  }
}

function narrowing() {
  const box = Object.assign(document.createElement("details"), { id: "narrow", className: "narrow" });
  box.append(Object.assign(document.createElement("summary"), { textContent: "Narrow down by numbers" }));
  for (const measure of all.measures) {
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
    button.append(icon(family.outline, family.colour), family.name);
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
  const broken = !all.broken.some(Boolean) ? "" : isPlane() ? " · grey, crossed out: against the policy" : " · dashed: against the policy";
  const knee = all.knee < 0 ? "" : ` · ${isPlane() ? "dashed ring" : "black line"}: ${all.knee_words}`;
  const meaning = (isPlane() ? "filled: efficient · hollow: another is better" : "coloured: efficient · grey: another is better") + broken + knee;
  items.push(Object.assign(document.createElement("li"), { textContent: meaning, className: "soft" }));
  list.replaceChildren(...items);
  part("narrow")?.remove();
  if (!isPlane()) list.after(narrowing());
}

async function choose(row) {
  chart.chosen = row;
  const address = new URL(location.href);
  address.searchParams.set("id", all.ids[row]);
  history.replaceState({}, "", address);
  mark();
  const target = new URL(part("frontier").dataset.details, location.href);
  target.search = address.search;
  const { page } = await window.fetched(target);
  window.swap(page, "details");
  redraw();
}

function mark() {
  const chosen = all && chart?.chosen >= 0 ? all.ids[chart.chosen] : "";
  for (const line of document.querySelectorAll("#candidates tr[data-id]")) line.classList.toggle("chosen", line.dataset.id === chosen);
}

// Other axes: the address, the picture and the list follow.
document.addEventListener("change", async (event) => {
  if (event.target.form?.id !== "axes" || !chart) return;
  const axes = [...new Set(new FormData(event.target.form).getAll("axis"))];
  if (axes.length < 2) return;
  const address = new URL(location.href);
  for (const name of ["axis", "page", "sort", "order"]) address.searchParams.delete(name);
  for (const label of axes) address.searchParams.append("axis", label);
  history.pushState({}, "", address);
  await see({ whole: true });
  legend();
  await refresh(address);
});

// Records before and after are shown once, in their place.
document.addEventListener("submit", async (event) => {
  if (event.target.id === "axes" && chart) event.preventDefault();
  if (!("before" in event.target.dataset)) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(event.target));
  const { page } = await window.fetched(event.target.action, { method: "POST", body });
  window.swap(page, "pairs");
});

async function refresh(address) {
  const { page } = await window.fetched(address);
  for (const id of ["candidates", "details", "views", "limits"]) window.swap(page, id);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-choose]");
  if (!link || !all || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  choose(all.ids.indexOf(link.dataset.choose));
});

// The exploration goes on: new candidates are fetched, and what is seen of the picture stays.
document.addEventListener("sfumato:swapped", async (event) => {
  if (event.target.id === "candidates") return mark();
  if (event.target.id !== "job") return;
  const stamp = event.target.dataset.stamp;
  if ((all?.stamp || part("frontier")?.dataset.stamp || "0") === stamp) return;
  if (!part("chart")) {
    const { page } = await window.fetched(location.href);
    if (!page.getElementById("chart")) window.swap(page, "frontier");
    else if (window.swap(page, "main")) await open();
    return;
  }
  const families = chart?.all?.families.length;
  try {
    await load({ stamp: all?.stamp ?? "" });
  } catch {
    return; // the next look at the exploration tries again
  }
  if (!chart) return begin();
  arrange();
  if (families !== all.families.length) legend();
  refresh(location.href);
});

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
