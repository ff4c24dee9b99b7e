// Goes from state to state without loading whole pages: each has its address, and the browser's history works. Moves
// are made by links, by dragging, by the letters of their names, and on the board by the arrow keys.
import { boards, settle, way } from "./board.js";
import { players } from "./player.js";
import { solid } from "./solid.js";

const main = document.querySelector("main");
const said = document.createElement("div"); // tells screen readers what has changed
said.className = "unseen";
said.setAttribute("aria-live", "polite");
document.body.append(said);
let shown = location.pathname + location.search;
let newest = 0;
let letters = true;
let body = null; // of a twisty puzzle: what draws its board

const address = (link) => new URL(link.getAttribute("href"), location.href);
const ofThisJob = (url) => {
  const job = location.pathname.match(/^\/jobs\/\d+\//)?.[0];
  return url.origin === location.origin && ["state", "random"].some((page) => url.pathname === `${job}${page}`);
};

function focusAfter(within) {
  const place = within && main.querySelector(`${within} a`);
  if (place) return place.focus({ preventScroll: true });
  const heading = main.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

// ``within``: what of the page the reader uses, which has the focus again afterwards.
async function show(url, { push = false, within = "", meanwhile = null } = {}) {
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
  if (!page?.querySelector("[data-state]")) return location.assign(url); // the browser shows what is wrong
  if (push) history.pushState(null, "", answer.url);
  shown = location.pathname + location.search;
  document.title = page.title;
  main.replaceChildren(...page.querySelector("main").childNodes);
  said.textContent = main.querySelector("h1").textContent;
  begin();
  focusAfter(within);
  if (push && !within) scrollTo(0, 0);
}

function follow(link) {
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
  main.querySelector(".state figcaption").append(label);
}

function begin() {
  players(main);
  boards(main, follow);
  const board = main.querySelector(".state > figure > [data-body]");
  body = board && solid(board);
  lettersBox();
}

main.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  const plain = !(event.button || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
  if (!link || !plain || event.defaultPrevented || !ofThisJob(address(link))) return;
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
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
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
