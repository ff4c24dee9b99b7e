// Makes a player of each list of the moves of a path: buttons, a slider, the arrow keys, and each move of the list by a
// click. Before a list there may be a picture that has all shapes of all boards: each item of the list says which come
// and which go. Else ``go`` shows the board of an item in its own way.
import { turned } from "./solid.js";

const SECONDS_A_STEP = 0.6;
const SECONDS_A_MOVE = 0.2;
const SECONDS_AT_THE_END = 3;
const MOST_GLIDING = 6;

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
export const plain = (event) => !(event.button || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);

// The place of a shape, and what it looks like anywhere.
function look(shape) {
  const box = shape.getBBox();
  const paint = shape.firstElementChild?.getAttribute("fill") ?? "";
  return { x: box.x, y: box.y, all: [shape.textContent, paint, Math.round(box.width), Math.round(box.height)].join() };
}

// Lets the shapes that came glide from where shapes that look the same have gone.
// ``from``: the looks of these.
function glide(from, came) {
  if (still() || came.length > MOST_GLIDING) return;
  for (const shape of came) {
    const to = look(shape);
    const before = from.find((each) => each.all === to.all);
    if (!before) continue;
    const start = `translate(${before.x - to.x}px, ${before.y - to.y}px)`;
    shape.animate([{ transform: start }, { transform: "none" }], { duration: 1000 * SECONDS_A_MOVE, easing: "ease-out" });
  }
}

// What shows the steps of a list in the picture before it.
function drawn(picture, steps) {
  if (picture.dataset.body) return turned(picture, steps);
  const shapes = [...picture.children];
  const changes = steps.map((each) => each.dataset.change.split("-").map((part) => part.match(/\d+/g) ?? []));
  const draw = (step, forward) => {
    const [come, go] = forward ? changes[step] : [...changes[step]].reverse();
    for (const number of come) shapes[number].removeAttribute("display");
    for (const number of go) shapes[number].setAttribute("display", "none");
  };
  return (step, at) => {
    const one = Math.abs(step - at) === 1;
    const [come, go] = step > at ? changes[step] : [...changes[at]].reverse();
    const before = one ? go.map((number) => look(shapes[number])) : [];
    for (let now = at; now < step; ) draw(++now, true);
    for (let now = at; now > step; ) draw(now--, false);
    if (one) glide(before, come.map((number) => shapes[number]));
    picture.setAttribute("aria-label", steps[step].dataset.board);
  };
}

// ``go(item, step, at)``: shows a board; where there is none, the picture before the list does.
function player(list, go = null) {
  const steps = [...list.children];
  const picture = list.previousElementSibling?.querySelector("svg");
  if (steps.length < 2 || list.dataset.ready || !(go || picture)) return null;
  list.dataset.ready = "yes";
  const draw = go ? (step, at) => go(steps[step], step, at) : drawn(picture, steps);
  const controls = document.createElement("div");
  controls.className = "controls";

  let at = 0;
  let timer = null;
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", min: 0, max: steps.length - 1, value: 0 });
  slider.setAttribute("aria-label", "Step of the path");
  const place = document.createElement("span");
  place.className = "small";

  // Marks a step, which is drawn already.
  const mark = (step) => {
    at = step;
    steps.forEach((each, number) => {
      if (number === at) each.firstElementChild.setAttribute("aria-current", "step");
      else each.firstElementChild.removeAttribute("aria-current");
    });
    const box = steps[at];
    if (list.scrollHeight > list.clientHeight) list.scrollTop = box.offsetTop - list.offsetTop - list.clientHeight / 2;
    slider.value = at;
    place.textContent = `${at} of ${steps.length - 1}`;
  };
  const show = (wanted) => {
    const step = Math.max(0, Math.min(steps.length - 1, wanted));
    if (step !== at) draw(step, at);
    mark(step);
  };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  };
  const button = (text, name, action) => {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", textContent: text });
    if (name) made.setAttribute("aria-label", name);
    made.addEventListener("click", action);
    return made;
  };
  const step = (difference) => () => {
    stop();
    show(at + difference);
  };
  const again = list.closest("[data-plays]") !== null;
  const next = () => {
    if (!list.isConnected) return stop();
    if (at === steps.length - 1) show(0);
    else show(at + 1);
    const last = at === steps.length - 1;
    if (last && !again) stop();
    else timer = setTimeout(next, 1000 * (last ? SECONDS_AT_THE_END : SECONDS_A_STEP));
  };
  const begin = () => {
    if (at === steps.length - 1) show(0);
    play.textContent = "Pause";
    timer = setTimeout(next, 1000 * SECONDS_A_STEP);
  };
  const play = button("Play", "", () => (timer ? stop() : begin()));
  slider.addEventListener("input", () => {
    stop();
    show(Number(slider.value));
  });
  const back = step(-1);
  const forward = step(1);
  controls.append(button("◀", "Back", back), play, button("▶", "Forward", forward), slider, place);
  list.before(controls);
  list.addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (!item || !plain(event)) return;
    event.preventDefault();
    stop();
    show(steps.indexOf(item));
  });
  mark(0);
  const made = { list, steps, mark, stop, begin, isPlaying: () => timer !== null };
  made.key = (event) => {
    if (event.key === "ArrowLeft") back();
    else if (event.key === "ArrowRight") forward();
    else if (event.key === "Home") step(-steps.length)();
    else if (event.key === "End") step(steps.length)();
    else return false;
    event.preventDefault();
    return true;
  };
  if (again && !still()) begin();
  return made;
}

const all = [];

export function players(root, go = null) {
  const made = [...root.querySelectorAll("[data-player]")].map((list) => player(list, go)).filter(Boolean);
  all.push(...made);
  return made;
}

export const isTyped = (event) =>
  event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || event.target.closest("input:not([type=checkbox]), textarea, select") !== null;

// The arrow keys work at once: for the player that has the focus, else for the first that is seen.
document.addEventListener("keydown", (event) => {
  if (isTyped(event) || event.target.closest("svg.moving, svg[data-body]")) return;
  const seen = all.filter((each) => each.list.isConnected && each.list.checkVisibility());
  (seen.find((each) => each.list.parentElement.contains(event.target)) ?? seen[0])?.key(event);
});

if (!document.querySelector("[data-part=line]")) players(document);
