// Goes from board to board without loading whole pages: each has its address, and the browser's history works. Moves are
// made by links, by dragging, by the letters of their names, and on the board by the arrow keys; the shortest way is
// played on the same board. A page has parts, which are exchanged one by one: the way that is played stays as it is as
// long as its boards are shown.
import { boards, settle, way } from "./board.js";
import { isTyped, plain, players } from "./player.js";
import { solid } from "./solid.js";

const main = document.querySelector("main");
const said = document.createElement("div"); // tells screen readers what has changed
said.className = "unseen";
said.setAttribute("aria-live", "polite");
document.body.append(said);
let shown = location.pathname + location.search;
let newest = 0;
let letters = true;
let line = null; // the player of the way
let body = null; // of a twisty puzzle: what draws its board

const address = (link) => new URL(link.getAttribute("href"), location.href);
const here = location.pathname.match(/^\/jobs\/\d+\/|^\/puzzles\/[^/]+\//)?.[0];
const isPlay = (url) => url.searchParams.has("play"); // these pages have other parts
const isBoard = (url) => {
  const of = url.pathname.startsWith(here) ? url.pathname.slice(here.length) : "";
  if (url.origin !== location.origin || isPlay(url) !== isPlay(new URL(location.href))) return false;
  return (here.startsWith("/jobs") ? ["state", "random"].includes(of) : of && of !== "solve");
};

// Which step of the way a page shows; -1: none.
function stepOf(page) {
  const board = page.querySelector("[data-part=board] svg")?.getAttribute("aria-label");
  return line?.steps.findIndex((each) => boardOf(address(each.querySelector("a"))) === board) ?? -1;
}

const boardOf = (url) => url.searchParams.get("board") ?? decodeURIComponent(url.pathname.slice(here.length));

function focusAfter(within) {
  const place = within && main.querySelector(`${within} a`);
  if (place) return place.focus({ preventScroll: true });
  const heading = main.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

// ``within``: what of the page the reader uses, which has the focus again afterwards. ``step``: of the way.
async function show(url, { push = false, within = "", step = null, meanwhile = null } = {}) {
  const number = ++newest;
  let page = null;
  let answer = null;
  try {
    [answer] = await Promise.all([fetch(url), meanwhile]);
    page = answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    page = null;
  }
  if (number !== newest) return;
  if (!page?.querySelector("[data-state]") || !new URL(answer.url).pathname.startsWith(here)) return location.assign(url); // the browser shows what is wrong
  if (push) history.pushState(null, "", answer.url);
  else if (step !== null) history.replaceState(null, "", answer.url);
  shown = location.pathname + location.search;
  document.title = page.title;
  const onTheWay = step ?? stepOf(page);
  const parts = ["h1", ...[...page.querySelectorAll("[data-part]")].map((each) => `[data-part=${each.dataset.part}]`)];
  for (const part of parts) {
    if (!["[data-part=line]", "[data-part=status]"].includes(part) || onTheWay < 0) main.querySelector(part)?.replaceWith(page.querySelector(part));
  }
  said.textContent = main.querySelector("h1").textContent;
  begin();
  if (onTheWay >= 0 && step === null) line.mark(onTheWay);
  if (step === null) focusAfter(within);
}

const linkTo = (item) => {
  const to = item.querySelector("a").getAttribute("href");
  return [...main.querySelectorAll("svg.moving a, .moves a")].find((link) => link.getAttribute("href") === to);
};

// Shows a step of the way; the piece of the next one goes there.
function go(item, step) {
  const link = linkTo(item);
  const meanwhile = link?.ownerSVGElement ? settle(link) : link && body?.turn(link.dataset.move);
  show(address(item.querySelector("a")), { step, meanwhile });
}

function follow(link) {
  line?.stop();
  const within = ["svg.moving", ".moves"].find((each) => link.closest(each));
  show(address(link), { push: true, within, meanwhile: within === "svg.moving" ? settle(link) : body?.turn(link.dataset.move) });
}

// Letters that do something must be able to be turned off: who speaks to the computer may say them by chance.
function lettersBox() {
  if (!main.querySelector("[data-key]")) return;
  const label = document.createElement("label");
  const box = document.createElement("input");
  Object.assign(box, { type: "checkbox", checked: letters });
  box.addEventListener("change", () => {
    letters = box.checked;
  });
  label.append(box, " Letters make moves, with Shift their inverses");
  main.querySelector("[data-part=board] figcaption").append(label);
}

export function beginLine() {
  const list = main.querySelector("[data-part=line] [data-player]");
  if (!list) line = null;
  else if (!list.dataset.ready) {
    [line] = players(main, go);
    line?.mark(Math.max(0, stepOf(main))); // a way from the start ends at the board that is shown
  }
}

export function begin() {
  beginLine();
  boards(main, follow);
  const board = main.querySelector("[data-part=board] > [data-body]");
  body = board && solid(board);
  lettersBox();
}

main.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || !plain(event) || event.defaultPrevented || !isBoard(address(link))) return;
  event.preventDefault();
  follow(link);
});

const WAYS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

function linkOfKey(event) {
  const board = event.target.closest("svg.moving");
  const [x, y] = (board && WAYS[event.key]) ?? [];
  if (x === undefined) {
    if (!letters) return null;
    const key = `${event.shiftKey ? "Shift+" : ""}${event.key.toUpperCase()}`;
    return main.querySelector(`[data-key="${CSS.escape(key)}"]`);
  }
  const going = [...board.querySelectorAll("a")].filter((link) => {
    const [toX, toY] = way(link);
    const along = toX * x + toY * y;
    return along > 0 && along > 0.99 * Math.hypot(toX, toY);
  });
  return going.length === 1 ? going[0] : null;
}

document.addEventListener("keydown", (event) => {
  if (isTyped(event)) return;
  const link = linkOfKey(event);
  if (!link) return;
  event.preventDefault();
  follow(link);
});

addEventListener("popstate", () => {
  ++newest; // a page that is still on its way is not the one of this address
  if (location.pathname + location.search !== shown) show(location.href);
});

begin();
if (location.hash === "#play") line?.begin();
