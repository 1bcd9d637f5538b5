// The workbench's script: put a part of a page in place of another, ask again, send forms in place.
// Every page also works without it.
"use strict";

// Fetch an address and return the page that came, where it came from, and how it went.
async function fetched(address, options = {}, what = "part") {
  const headers = { "Sfumato-Fragment": what };
  const response = await fetch(address, { ...options, headers, credentials: "same-origin" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return { page, response };
}

// Put the element with this id in place of the one that is there; focus and open branches stay.
function swap(page, id) {
  const fresh = page.getElementById(id);
  const stale = document.getElementById(id);
  if (!fresh || !stale) return false;
  const focused = stale.contains(document.activeElement) ? document.activeElement : null;
  for (const branch of stale.querySelectorAll("details[id][open]")) {
    fresh.querySelector("#" + CSS.escape(branch.id))?.setAttribute("open", "");
  }
  stale.replaceWith(fresh);
  if (focused) (document.getElementById(focused.id) || fresh).focus({ preventScroll: true });
  prepare(fresh);
  fresh.dispatchEvent(new CustomEvent("sfumato:swapped", { bubbles: true }));
  return true;
}

function say(page) {
  const title = page.querySelector("title");
  if (title) document.title = title.textContent;
  swap(page, "messages");
  settle();
}

// What was said stays in sight for a while, then it scrolls away with the page.
function settle() {
  const messages = document.getElementById("messages");
  setTimeout(() => messages.classList.add("settled"), 6000);
}

// Whoever has clicked on a link is on the way there, which no page that has become ready meanwhile undoes.
// A download leads nowhere, so that after a while the page asks again.
let leaving = 0;
const ON_THE_WAY = 5000;
addEventListener("beforeunload", () => { leaving = Date.now(); });
const isLeaving = () => Date.now() - leaving < ON_THE_WAY;

// Elements with data-poll ask for themselves again after so many milliseconds. The address is that of
// data-address or of the page. With data-until-ready the page is loaded as a whole once it is ready.
function poll(element) {
  setTimeout(async () => {
    if (!element.isConnected) return;
    if (document.hidden) return poll(element);
    const whole = "untilReady" in element.dataset;
    try {
      const { page, response } = await fetched(
        element.dataset.address || location.href, {}, whole ? "ready" : "part");
      if (isLeaving()) return poll(element);
      if (whole && response.status !== 202) {
        location.replace(response.url);
      } else if (!response.ok || !swap(page, element.id)) {
        poll(element);
      }
    } catch {
      poll(element);
    }
  }, Number(element.dataset.poll));
}

// Forms and links with data-swap="id" are sent in place; the part with that id is taken from what comes.
async function go(address, options, id, busy) {
  busy?.setAttribute("aria-busy", "true");
  try {
    const { page, response } = await fetched(address, options);
    const problem = page.querySelector(".problem .lead");
    if (problem && !response.ok) {
      const box = document.getElementById("messages");
      const notice = document.createElement("p");
      notice.className = "notice bad";
      notice.textContent = problem.textContent;
      box.replaceChildren(notice);
      box.classList.remove("settled");
      return;
    }
    if (response.status === 202 || !swap(page, id)) return location.assign(response.url);
    history.pushState({}, "", response.url);
    say(page);
  } catch {
    location.reload();
  } finally {
    busy?.removeAttribute("aria-busy");
  }
}

function send(form, submitter) {
  const data = new FormData(form, submitter);
  const address = new URL(submitter?.getAttribute("formaction") || form.getAttribute("action") || location.href, location.href);
  if (form.method === "get") {
    address.search = new URLSearchParams(data).toString();
    return go(address, {}, form.dataset.swap, form);
  }
  const body = form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
  return go(address, { method: "POST", body }, form.dataset.swap, form);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.swap) {
    event.preventDefault();
    send(form, event.submitter);
  } else {
    form.setAttribute("aria-busy", "true");
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(link.href, {}, link.dataset.swap, null);
});

// A form with data-send-on-change is sent as soon as something in it changes.
document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form && "sendOnChange" in form.dataset) form.requestSubmit();
});

// A file that is dropped on an element with data-drop is put into its file input and sent.
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const place = event.target.closest?.("[data-drop]");
    event.preventDefault();
    place?.classList.toggle("over", kind === "dragover");
    if (kind !== "drop" || !place || !event.dataTransfer.files.length) return;
    const input = place.querySelector("input[type=file]");
    input.files = event.dataTransfer.files;
    input.form.requestSubmit();
  });
}

addEventListener("popstate", () => location.reload());
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const busy of document.querySelectorAll("form[aria-busy]")) busy.removeAttribute("aria-busy");
});

function prepare(root) {
  const polled = [...root.querySelectorAll("[data-poll]")];
  if (root.matches?.("[data-poll]")) polled.push(root);
  polled.forEach(poll);
}
prepare(document);
settle();
