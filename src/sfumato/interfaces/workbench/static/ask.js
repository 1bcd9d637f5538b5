// Completion in the box of the ask page: the words of the grammar and what was measured.
"use strict";

(() => {
  const box = document.getElementById("q");
  const list = document.getElementById("completions");
  const words = document.getElementById("words");
  if (!box || !list || !words) return;
  const every = [...words.content.children];
  box.removeAttribute("list");
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-controls", "completions");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-expanded", "false");
  let chosen = -1;

  // The words that are begun before the cursor: measures may have several.
  function begun() {
    const before = box.value.slice(0, box.selectionStart);
    return /(?:^|[\s,])([\w][\w.=-]*)?$/.exec(before)?.[1] ?? "";
  }

  // What may stand here: an aim first, a measure after it and in every limit, then a link.
  function wanted() {
    const before = box.value.slice(0, box.selectionStart - begun().length).trim().toLowerCase();
    if (before === "") return ["aim"];
    const last = before.split(/[\s,]+/).pop();
    if (["max", "min", "best", "where"].includes(last)) return ["measure"];
    const limits = /\bwhere\b/.test(before);
    if (last === "and" || before.endsWith(",")) return limits ? ["measure"] : ["aim"];
    if (/(?:<=|>=|<|>|=|most|least)$/.test(before)) return [];
    return ["link"];
  }

  function close() {
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function open() {
    const start = begun().toLowerCase();
    const kinds = wanted();
    const fits = every.filter((item) => kinds.includes(item.dataset.kind)
      && item.dataset.word.toLowerCase().startsWith(start) && item.dataset.word.toLowerCase() !== start);
    if (!fits.length || box.selectionStart !== box.selectionEnd) return close();
    list.replaceChildren(...fits.map((item, place) => {
      const copy = item.cloneNode(true);
      copy.id = `completion-${place}`;
      copy.setAttribute("aria-selected", "false");
      return copy;
    }));
    list.hidden = false;
    chosen = -1;
    box.setAttribute("aria-expanded", "true");
  }

  function choose(place) {
    const items = list.children;
    items[chosen]?.setAttribute("aria-selected", "false");
    chosen = (place + items.length) % items.length;
    items[chosen].setAttribute("aria-selected", "true");
    items[chosen].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", items[chosen].id);
  }

  function take(item) {
    const at = box.selectionStart;
    const text = `${item.dataset.word} `;
    box.setRangeText(text, at - begun().length, at, "end");
    box.focus();
    open();
  }

  box.addEventListener("input", open);
  box.addEventListener("click", open);
  box.addEventListener("blur", () => setTimeout(() => { if (document.activeElement !== box) close(); }, 150));
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && list.hidden) { open(); event.preventDefault(); return; }
    if (list.hidden) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? -1 : chosen - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && chosen >= 0) take(list.children[chosen]);
    else if (event.key === "Tab" && chosen >= 0 && !event.shiftKey) take(list.children[chosen]);
    else return;
    event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => {
    const item = event.target.closest("li");
    event.preventDefault();
    if (item) take(item);
  });
  // On a slow machine a person may have begun to type before this script came.
  if (document.activeElement === box && box.value) open();
})();
