// Lets people draw a box of sliding blocks: pieces as rectangles or cell by cell, walls, and where pieces must get. What
// is drawn is the text of the form's fields, and the server says what it is. Space on the keyboard takes hold, the arrow
// keys draw, and Space lets go, as the button of a mouse does.
const SECONDS = 0.3; // from the last change to the question
const CELL = 36;
const INSET = 3.6; // of a piece, half of which its stroke fills, with round corners
const MOST_CELLS = 64;
const LETTERS = "ABCDEFGHIJKLMNPQRSTUVWYZ123456789abcdefghijklmnpqrstuvwyz"; // not those that may mean an empty cell
const WAYS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const TOOLS = {
  Piece: "Drag over free cells to make a piece; drag a piece to move it.",
  Cells: "Draw cells onto a piece, for any shape.",
  Wall: "Draw walls, or take them away.",
  Goal: "Drag a piece to where it must get; press it to take its goal away.",
  Erase: "Press a piece, or draw over cells.",
};

const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  Object.assign(element, attributes);
  element.append(...children);
  return element;
};
const shape = (name, attributes, text = "") => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
};
// Rows of signs; spaces and commas in any row part the signs of all rows.
const rowsOf = (text) => {
  const rows = text.split("\n").map((row) => row.replaceAll(",", " ").trim()).filter(Boolean);
  const spaced = rows.some((row) => /\s/.test(row));
  return rows.map((row) => (spaced ? row.split(/\s+/) : [...row]));
};

function drawing(form) {
  const figure = form.querySelector("[data-box]");
  const [startField, goalField] = ["start", "goal"].map((name) => form.elements.namedItem(name));
  const colours = form.dataset.colours.split(" ");
  const svg = shape("svg", { class: "canvas", role: "group", "aria-label": "The box" });
  const hint = make("p", { className: "small" });
  const past = [];
  let box = { grid: [], goals: {} }; // rows of signs; for each piece with a goal where its first cell must get
  let tool = "Piece";
  let hold = null; // what is being drawn: the box before, the cell where it began, and the last one
  let at = [0, 0]; // the cell that has the focus
  let asked = 0;

  const copy = () => structuredClone(box);
  const inside = ([r, c]) => box.grid[r]?.[c] !== undefined;
  const sign = ([r, c]) => box.grid[r][c];
  const isPiece = (one) => one !== "." && one !== "#";
  const every = () => box.grid.flatMap((row, r) => row.map((_, c) => [r, c]));
  const cellsOf = (letter, of = box) => every().filter(([r, c]) => of.grid[r]?.[c] === letter);
  const moved = (cells, [down, right]) => cells.map(([r, c]) => [r + down, c + right]);
  const goalCells = (letter) => {
    const cells = cellsOf(letter);
    return cells.length ? moved(cells, [box.goals[letter][0] - cells[0][0], box.goals[letter][1] - cells[0][1]]) : [];
  };

  function read() {
    const grid = rowsOf(startField.value).map((row) => row.map((one) => (/^[0._]$/.test(one) ? "." : one)));
    if (!grid.length || grid.some((row) => row.length !== grid[0].length) || grid.length * grid[0].length > MOST_CELLS) return false;
    if (grid.flat().some((one) => [...one].length > 1)) return false;
    box = { grid, goals: {} };
    rowsOf(goalField.value).forEach((row, r) =>
      row.forEach((one, c) => {
        if (/[^0._*#]/.test(one) && cellsOf(one).length) box.goals[one] ??= [r, c];
      }),
    );
    return true;
  }

  function write() {
    const goal = box.grid.map((row) => row.map((one) => (one === "#" ? "#" : ".")));
    for (const letter of Object.keys(box.goals)) {
      const cells = goalCells(letter);
      if (cells.length && cells.every(inside)) for (const [r, c] of cells) goal[r][c] = letter;
      else delete box.goals[letter];
    }
    startField.value = box.grid.map((row) => row.join("")).join("\n");
    goalField.value = Object.keys(box.goals).length ? goal.map((row) => row.join("")).join("\n") : "";
  }

  // What is drawn

  // The cells of a piece as one shape: small squares, and what joins those that touch.
  function outline(cells, inset) {
    const has = (r, c) => cells.some(([y, x]) => y === r && x === c);
    const part = (r, c, wide, high) => {
      const [x, y] = [c * CELL + (wide === 2 ? CELL - inset : inset), r * CELL + (high === 2 ? CELL - inset : inset)];
      const size = (kind) => (kind === 2 ? 2 * inset : CELL - 2 * inset); // 2: what joins two cells
      return `M${x} ${y}h${size(wide)}v${size(high)}h${-size(wide)}z`;
    };
    const parts = cells.flatMap(([r, c]) => {
      const [right, down] = [has(r, c + 1), has(r + 1, c)];
      const all = right && down && has(r + 1, c + 1);
      return [part(r, c, 1, 1), right && part(r, c, 2, 1), down && part(r, c, 1, 2), all && part(r, c, 2, 2)];
    });
    return parts.filter(Boolean).join("");
  }

  function border(cells) {
    const has = (r, c) => cells.some(([y, x]) => y === r && x === c);
    const lines = cells.map(([r, c]) => {
      const [x, y, far, low] = [c * CELL, r * CELL, (c + 1) * CELL, (r + 1) * CELL];
      return [
        has(r - 1, c) ? "" : `M${x} ${y}H${far}`,
        has(r + 1, c) ? "" : `M${x} ${low}H${far}`,
        has(r, c - 1) ? "" : `M${x} ${y}V${low}`,
        has(r, c + 1) ? "" : `M${far} ${y}V${low}`,
      ].join("");
    });
    return lines.join("");
  }

  // Where a piece has its letter: in the middle of a rectangle, else in the cell next to it.
  function centre(cells) {
    const spans = [0, 1].map((axis) => cells.map((cell) => cell[axis])).map((all) => [Math.min(...all), Math.max(...all) + 1]);
    const mean = spans.map(([from, to]) => (from + to) / 2);
    if (spans.reduce((size, [from, to]) => size * (to - from), 1) === cells.length) return mean;
    const off = ([r, c]) => Math.hypot(r + 0.5 - mean[0], c + 0.5 - mean[1]);
    return cells.reduce((best, cell) => (off(cell) < off(best) ? cell : best)).map((part) => part + 0.5);
  }

  const letters = () => [...new Set(box.grid.flat().filter(isPiece))];

  // The colour of each piece, which it has on all pages: those of one shape are alike, but for one that has a goal, and
  // for those that keep to different lines. Pieces with a goal come first, in the order of their places there.
  function colouring() {
    const order = (letter) => (box.goals[letter] ? box.goals[letter][0] * MOST_CELLS + box.goals[letter][1] : MOST_CELLS ** 2);
    const along = form.elements.namedItem("along").checked;
    const of = {};
    const number = new Map();
    for (const letter of letters().sort((a, b) => order(a) - order(b))) {
      const cells = cellsOf(letter);
      const line = along && cells[0][cells.every(([r]) => r === cells[0][0]) ? 0 : 1];
      const kind = JSON.stringify([moved(cells, [-cells[0][0], -cells[0][1]]), line, box.goals[letter] && letter]);
      if (!number.has(kind)) number.set(kind, number.size % colours.length);
      of[letter] = colours[number.get(kind)];
    }
    return of;
  }

  function draw() {
    const [rows, columns] = [box.grid.length, box.grid[0].length];
    svg.setAttribute("viewBox", `-5 -5 ${columns * CELL + 10} ${rows * CELL + 10}`);
    svg.setAttribute("width", columns * 80);
    const colourOf = colouring();
    const parts = [shape("rect", { class: "tray", x: -2.5, y: -2.5, width: columns * CELL + 5, height: rows * CELL + 5, rx: 4 })];
    for (const [r, c] of every()) {
      if (isPiece(sign([r, c]))) continue;
      const kind = sign([r, c]) === "#" ? "wall" : "free";
      parts.push(shape("rect", { class: kind, x: c * CELL + 1, y: r * CELL + 1, width: CELL - 2, height: CELL - 2, rx: 3 }));
    }
    for (const letter of letters()) {
      const cells = cellsOf(letter);
      const [y, x] = centre(cells);
      parts.push(shape("path", { class: "piece", fill: colourOf[letter], stroke: colourOf[letter], d: outline(cells, INSET) }));
      parts.push(shape("text", { x: x * CELL, y: y * CELL }, letter));
    }
    for (const letter of Object.keys(box.goals)) {
      const cells = goalCells(letter);
      if (!cells.length || !cells.every(inside)) continue;
      parts.push(shape("path", { class: "goal", d: border(cells), stroke: colourOf[letter] }));
      const [r, c] = cells[cells.length - 1];
      parts.push(shape("text", { class: "flag", x: (c + 0.68) * CELL, y: (r + 0.75) * CELL }, `⚑${letter}`));
    }
    if (hold?.bad) parts.push(shape("path", { class: "bad", d: border(hold.bad) }));
    for (const [r, c] of every()) {
      const one = sign([r, c]);
      const said = one === "#" ? "wall" : isPiece(one) ? `piece ${one}` : "free";
      const here = r === at[0] && c === at[1];
      const cell = { x: c * CELL, y: r * CELL, width: CELL, height: CELL, "data-cell": `${r} ${c}`, role: "button" };
      parts.push(shape("rect", { ...cell, tabindex: here ? 0 : -1, "aria-label": `row ${r + 1}, column ${c + 1}: ${said}` }));
    }
    const focused = svg.contains(document.activeElement);
    svg.replaceChildren(...parts);
    if (focused) focus();
  }

  const focus = () => svg.querySelector(`[data-cell="${at.join(" ")}"]`)?.focus({ preventScroll: true });

  // Drawing: each tool begins at a cell, and goes on to others

  const fresh = () => LETTERS.split("").find((letter) => !cellsOf(letter).length);
  const set = (cells, one) => cells.forEach(([r, c]) => (box.grid[r][c] = one));
  function forget(letter) {
    if (isPiece(letter) && !cellsOf(letter).length) delete box.goals[letter];
  }

  function press(cell) {
    const one = sign(cell);
    hold = { before: copy(), from: cell, to: cell, one, letter: isPiece(one) ? one : null, bad: null };
    if (tool === "Cells") hold.letter ??= fresh();
    if (tool === "Wall") hold.put = one === "#" ? "." : "#";
    over(cell);
  }

  function over(cell) {
    const { before, from, letter, one } = hold;
    hold.to = cell;
    const by = [cell[0] - from[0], cell[1] - from[1]];
    if (tool === "Cells" && letter && sign(cell) === ".") set([cell], letter);
    if (tool === "Wall" && !isPiece(sign(cell))) set([cell], hold.put);
    if (tool === "Erase") {
      const gone = sign(cell);
      set(isPiece(gone) && cell === from ? cellsOf(gone) : [cell], ".");
      forget(gone);
    }
    if (tool === "Goal" && letter) {
      box = structuredClone(before);
      const cells = moved(cellsOf(letter), by);
      hold.bad = cells.every((each) => inside(each) && sign(each) !== "#") ? null : cells.filter(inside);
      if (hold.bad || !(by[0] || by[1])) delete box.goals[letter];
      else box.goals[letter] = cells[0];
    }
    if (tool === "Piece" && one !== "#") {
      box = structuredClone(before);
      const cells = letter ? moved(cellsOf(letter), by) : every().filter(([r, c]) => between(r, from[0], cell[0]) && between(c, from[1], cell[1]));
      const put = letter ?? fresh(); // none: there are no more letters
      const free = put && cells.every((each) => inside(each) && [".", letter].includes(sign(each)));
      hold.bad = free ? null : cells.filter(inside);
      if (free) {
        if (letter) set(cellsOf(letter), ".");
        set(cells, put);
      }
    }
    draw();
  }

  const between = (value, a, b) => value >= Math.min(a, b) && value <= Math.max(a, b);

  function release(kept = true) {
    const { before } = hold;
    hold = null;
    if (!kept) box = before;
    else if (JSON.stringify(before) !== JSON.stringify(box)) {
      past.push(before);
      return changed();
    }
    draw();
  }

  function changed() {
    write();
    draw();
    ask();
  }

  function ask() {
    const number = ++asked;
    setTimeout(() => number === asked && judge(number), 1000 * SECONDS);
  }

  async function judge(number) {
    const address = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
    try {
      const answer = await fetch(address);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const verdict = page.querySelector("[data-part=verdict]");
      if (number !== asked || !verdict) return;
      document.querySelector("[data-part=verdict]").replaceChildren(...verdict.childNodes);
      history.replaceState(null, "", address);
    } catch {
      // The server says what is wrong when the form is sent.
    }
  }

  // Hands

  const cellAt = (event) => {
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
    return cell && svg.contains(cell) ? cell.dataset.cell.split(" ").map(Number) : null;
  };
  const same = (a, b) => a[0] === b[0] && a[1] === b[1];

  svg.addEventListener("pointerdown", (event) => {
    const cell = cellAt(event);
    if (!cell || event.button || !event.isPrimary) return;
    event.preventDefault();
    svg.classList.remove("keys");
    svg.setPointerCapture(event.pointerId);
    at = cell;
    press(cell);
    focus();
  });
  svg.addEventListener("pointermove", (event) => {
    const cell = hold && cellAt(event);
    if (cell && !same(cell, hold.to)) over(cell);
  });
  svg.addEventListener("pointerup", () => hold && release());
  svg.addEventListener("pointercancel", () => hold && release(false));
  svg.addEventListener("keydown", (event) => {
    const { key } = event;
    if (event.altKey || event.ctrlKey || event.metaKey || !event.target.closest("[data-cell]")) return;
    svg.classList.add("keys");
    if (WAYS[key]) {
      const [next] = moved([at], WAYS[key]);
      if (inside(next)) at = next;
      if (hold) over(at);
      else draw();
    } else if (key === " " || key === "Enter") {
      if (hold) release();
      else press(at);
    } else if (key === "Escape" && hold) release(false);
    else if ((key === "Delete" || key === "Backspace") && !hold) {
      past.push(copy());
      const one = sign(at);
      set(isPiece(one) ? cellsOf(one) : [at], ".");
      forget(one);
      changed();
    } else return;
    event.preventDefault();
    focus();
  });

  // What stands round the box

  function number(called, value, change) {
    const input = make("input", { type: "number", min: 1, max: MOST_CELLS, value, inputMode: "numeric" });
    input.setAttribute("form", "none"); // it is no field of the form
    input.addEventListener("change", () => {
      past.push(copy());
      change(Math.max(1, Math.min(MOST_CELLS, Number(input.value) || 1)));
    });
    return [make("label", {}, called, " ", input), input];
  }

  function resize(rows, columns) {
    if (rows * columns > MOST_CELLS) {
      hint.textContent = `A box has at most ${MOST_CELLS} cells.`;
    } else {
      const grid = Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (_, c) => box.grid[r]?.[c] ?? "."));
      box = { grid, goals: box.goals };
      at = [0, 0];
      changed();
    }
    sizes();
  }

  const [high, rowsInput] = number("Rows", 1, (value) => resize(value, box.grid[0].length));
  const [wide, columnsInput] = number("Columns", 1, (value) => resize(box.grid.length, value));
  const sizes = () => Object.assign(rowsInput, { value: box.grid.length }) && Object.assign(columnsInput, { value: box.grid[0].length });
  const undo = make("button", { type: "button" }, "Undo");
  undo.addEventListener("click", () => {
    if (!past.length) return;
    box = past.pop();
    at = [0, 0];
    sizes();
    changed();
  });
  const choices = Object.entries(TOOLS).map(([name, said]) => {
    const radio = make("input", { type: "radio", value: name, checked: name === tool });
    radio.setAttribute("form", "none"); // it is no field of the form
    radio.name = "tool";
    radio.addEventListener("change", () => {
      tool = name;
      hint.textContent = said;
    });
    return make("label", {}, radio, make("span", {}, name));
  });
  const tools = make("div", { className: "tools" }, ...choices);
  tools.setAttribute("role", "radiogroup");
  tools.setAttribute("aria-label", "What the pointer draws");
  hint.textContent = TOOLS[tool];

  function typed() {
    if (!read()) return;
    figure.hidden = false;
    at = [0, 0];
    sizes();
    draw();
  }

  form.addEventListener("input", (event) => {
    if ([startField, goalField].includes(event.target)) typed();
    if (event.target.name === "along") draw();
    if (event.target.name !== "tool" && event.target.name) ask();
  });
  const readable = read() || !startField.value.trim(); // what cannot be drawn stays a text
  if (!box.grid.length) box.grid = Array.from({ length: 4 }, () => Array(4).fill("."));
  figure.append(tools, svg, hint, make("div", { className: "row" }, high, wide, undo));
  sizes();
  draw();
  figure.hidden = !readable;
  form.querySelector("[data-texts]").open = !readable;
}

document.querySelectorAll("form.box").forEach(drawing);
