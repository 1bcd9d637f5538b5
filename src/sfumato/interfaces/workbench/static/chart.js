// What both pictures of the frontier share. All that is computed comes from the server.

export function colours() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue("--" + name).trim();
}

// Between pairs of numbers in order, the second number at a place of the first, along straight lines.
export function along(pairs, at) {
  if (!pairs.length) return NaN;
  let after = pairs.findIndex(([first]) => first >= at);
  if (after < 0) return pairs.at(-1)[1];
  if (!after) return pairs[0][1];
  const [[low, start], [high, end]] = [pairs[after - 1], pairs[after]];
  return start + ((at - low) / (high - low)) * (end - start);
}

export function icon(outline, colour) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "-8 -8 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", outline);
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
