// Lets people draw a board cell by cell: cells take the chosen value, or change to the next one, or exchange theirs. The
// drawn board is the text of the form's field, and the server says what is wrong with it (data-judge). Each cell is an
// element with data-value, the number of a button of the palette, and data-end, what stands behind it in the text.
const START = 4; // what the pointer goes before a piece is dragged, in pixels
const SECONDS = 0.25; // from the last change to the question
const WAYS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

function canvas(figure) {
  const kind = figure.dataset.canvas; // swap, choose or change
  const svg = figure.querySelector("svg");
  const cells = [...svg.querySelectorAll("[data-value]")];
  const solved = [...figure.querySelectorAll("[data-held]")].at(-1).dataset.held.split(" "); // how many there are of each
  const values = [...figure.querySelectorAll("[data-token]")].map((button, value) => ({
    button,
    token: button.dataset.token,
    called: button.getAttribute("aria-label"),
    look: button.querySelector("svg").firstElementChild,
    text: button.querySelector("text").textContent,
    all: solved.filter((each) => each === String(value)).length,
  }));
  const unset = values.findIndex((value) => value.called === "none");
  const field = document.getElementById(figure.dataset.field);
  let chosen = 0;
  let drag = null;
  let held = null; // the cell that waits for the one to exchange with
  let typed = "";
  let asked = 0;

  const valueOf = (cell) => (cell.dataset.value === "-1" ? unset : Number(cell.dataset.value));
  const fixed = (cell) => "fixed" in cell.dataset;
  const middle = (cell) => {
    const box = cell.firstElementChild.getBBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };

  function put(cell, value) {
    if (fixed(cell)) return;
    cell.dataset.value = value === unset ? -1 : value;
    const { look, text, called } = values[value];
    for (const name of ["class", "fill"]) {
      if (look.hasAttribute(name)) cell.firstElementChild.setAttribute(name, look.getAttribute(name));
      else cell.firstElementChild.removeAttribute(name);
    }
    cell.lastElementChild.textContent = text;
    name(cell);
  }

  function name(cell) {
    cell.setAttribute("aria-label", `cell ${cells.indexOf(cell) + 1}: ${values[valueOf(cell)].called}`);
  }

  function swap(a, b) {
    const [first, second] = [valueOf(a), valueOf(b)];
    put(a, second);
    put(b, first);
  }

  function count() {
    for (const { button } of values) button.lastElementChild.textContent = "";
    if (unset < 0) return 0;
    const used = values.map((_, value) => cells.filter((cell) => valueOf(cell) === value).length);
    values.forEach(({ button, all }, value) => value !== unset && (button.lastElementChild.textContent = all - used[value] || "✓"));
    return used[unset];
  }

  function changed() {
    const left = count();
    const told = left === 1 ? "One sticker is left." : `${left} stickers are left.`;
    field.setCustomValidity(left ? told : "");
    field.value = figure.dataset.before + cells.map((cell) => values[valueOf(cell)].token + cell.dataset.end).join("").trim();
    if (left) document.querySelector("[data-part=verdict]").textContent = told;
    ask(left > 0);
  }

  // ``none``: nothing is asked. ``shown``: what was typed is drawn.
  function ask(none, shown = false) {
    const number = ++asked;
    if (!none) setTimeout(() => number === asked && judge(number, shown), 1000 * SECONDS);
  }

  async function judge(number, shown) {
    try {
      const answer = await fetch(`${figure.dataset.judge}?draw=${encodeURIComponent(field.value)}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const verdict = page.querySelector("[data-part=verdict]");
      if (number !== asked || !verdict) return;
      document.querySelector("[data-part=verdict]").replaceChildren(...verdict.childNodes);
      if (shown) fill([...page.querySelectorAll("[data-canvas] [data-value]")].map((cell) => valueOf(cell)));
    } catch {
      // The form says what is wrong when it is sent.
    }
  }

  function fill(all) {
    all.forEach((value, i) => put(cells[i], value));
    count();
  }

  function choose(value) {
    chosen = value;
    values.forEach(({ button }, i) => button.setAttribute("aria-pressed", i === value));
  }

  function hold(cell) {
    held?.classList.remove("held");
    held = cell === held ? null : cell;
    held?.classList.add("held");
  }

  // What a press on a cell puts into it, and what is drawn from there on.
  function pressed(cell) {
    const value = valueOf(cell);
    if (kind === "change") return (value + 1) % values.length;
    return value === chosen ? Math.max(unset, 0) : chosen;
  }

  function press(cell) {
    if (kind !== "swap") {
      put(cell, pressed(cell));
      return changed();
    }
    if (!held || held === cell) return hold(cell);
    swap(held, cell);
    hold(null);
    changed();
  }

  const at = (event) => {
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-value]");
    return cell && svg.contains(cell) ? cell : null;
  };

  svg.addEventListener("pointerdown", (event) => {
    const cell = event.target.closest("[data-value]");
    if (!cell || event.button || !event.isPrimary) return;
    event.preventDefault();
    svg.classList.remove("keys");
    focus(cell);
    drag = { cell, x: event.clientX, y: event.clientY, far: false };
    if (kind === "swap") return;
    drag.value = pressed(cell);
    put(cell, drag.value);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!event.buttons) drag = null; // the button was let go of outside
    if (!drag) return;
    const over = at(event);
    if (kind !== "swap") return over && put(over, drag.value);
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.far && Math.hypot(x, y) < START) return;
    if (!drag.far) {
      svg.setPointerCapture(event.pointerId);
      drag.cell.classList.add("dragged");
      svg.append(drag.cell); // above the others
    }
    drag.far = true;
    const scale = svg.getScreenCTM().a;
    drag.cell.setAttribute("transform", `translate(${x / scale} ${y / scale})`);
  });
  const end = (event) => {
    if (!drag) return;
    const { cell, far } = drag;
    drag = null;
    cell.classList.remove("dragged");
    if (kind !== "swap") return changed();
    if (!far) return event.type === "pointerup" && press(cell);
    cell.removeAttribute("transform");
    cell.setAttribute("pointer-events", "none");
    const over = at(event);
    cell.removeAttribute("pointer-events");
    svg.append(...cells); // in their order again
    if (held) hold(held);
    if (event.type !== "pointerup" || !over || over === cell) return;
    swap(cell, over);
    focus(over);
    changed();
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);

  function focus(cell) {
    cells.forEach((each) => each.setAttribute("tabindex", each === cell ? 0 : -1));
    cell.focus({ preventScroll: true });
  }

  function beside(cell, [x, y]) {
    const [fromX, fromY] = middle(cell);
    let best = [Infinity, cell];
    for (const other of cells) {
      const [toX, toY] = middle(other);
      const along = (toX - fromX) * x + (toY - fromY) * y;
      const off = Math.abs((toX - fromX) * y) + Math.abs((toY - fromY) * x);
      if (along > 1 && off <= along && along + 2 * off < best[0]) best = [along + 2 * off, other];
    }
    return best[1];
  }

  // Puts the value with this token into a cell; where values change places, from a later cell if there is one.
  function bring(cell, value) {
    const from = cells.indexOf(cell);
    const others = [...cells.slice(from + 1), ...cells.slice(0, from)];
    if (kind === "swap") swap(cell, valueOf(cell) === value ? cell : others.find((each) => valueOf(each) === value));
    else put(cell, value);
    changed();
  }

  function type(cell, key) {
    const token = [typed + key, key].find((text) => values.some((value) => value.token.toLowerCase().startsWith(text)));
    if (!token) return false;
    const value = values.findIndex((each) => each.token.toLowerCase() === token);
    typed = token;
    if (value >= 0) bring(cell, value);
    const longer = values.some((each) => each.token.length > token.length && each.token.toLowerCase().startsWith(token));
    if (!longer) {
      typed = "";
      const next = cells.slice(cells.indexOf(cell) + 1).find((each) => !fixed(each));
      if (next) focus(next);
    }
    return true;
  }

  svg.addEventListener("keydown", (event) => {
    const cell = event.target.closest("[data-value]");
    if (!cell || event.altKey || event.ctrlKey || event.metaKey) return;
    const { key } = event;
    svg.classList.add("keys");
    if (WAYS[key]) {
      typed = "";
      focus(beside(cell, WAYS[key]));
    } else if (key === " " || key === "Enter") press(cell);
    else if (key === "Backspace" && unset >= 0) bring(cell, unset);
    else if (key.length > 1 || !type(cell, key.toLowerCase())) return;
    event.preventDefault();
  });

  values.forEach(({ button }, value) => button.addEventListener("click", () => choose(value)));
  for (const button of figure.querySelectorAll("[data-held]")) {
    button.addEventListener("click", () => {
      fill(button.dataset.held.split(" ").map((value) => (value === "-1" ? unset : Number(value))));
      changed();
    });
  }
  field.addEventListener("input", () => {
    field.setCustomValidity("");
    ask(!field.value.trim(), true);
  });
  for (const cell of cells) {
    cell.setAttribute("role", "button");
    cell.setAttribute("tabindex", cell === cells[0] ? 0 : -1);
    name(cell);
  }
  choose(0);
  count();
  figure.hidden = false;
}

document.querySelectorAll("[data-canvas]").forEach(canvas);
