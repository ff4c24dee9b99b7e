// Makes a player of each list of boards: one board at a time, with a slider, buttons and the arrow keys. The picture
// before the list has all shapes of all boards; each item of the list says which come and which go.
import { turned } from "./solid.js";

const SECONDS_A_STEP = 0.45;
const SECONDS_A_MOVE = 0.2;
const MOST_GLIDING = 6;

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

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

function player(list) {
  const steps = [...list.children];
  const figure = list.previousElementSibling;
  if (steps.length < 2 || !figure?.matches(".frames") || list.closest(".player")) return;
  const picture = figure.firstElementChild;
  const turn = picture.dataset.body ? turned(picture, steps) : null;
  const shapes = [...picture.children];
  const changes = steps.map((each) => each.dataset.change.split("-").map((part) => part.match(/\d+/g) ?? []));
  const frame = document.createElement("div");
  frame.className = "player";
  list.before(frame);
  const controls = document.createElement("div");
  controls.className = "controls";
  frame.append(figure, list, controls);
  figure.hidden = false;
  picture.addEventListener("click", () => steps[at].querySelector("a")?.click());

  let at = 0;
  let timer = null;
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", min: 0, max: steps.length - 1, value: 0 });
  slider.setAttribute("aria-label", "Step of the path");
  const place = document.createElement("span");

  const draw = (step, forward) => {
    const [come, go] = forward ? changes[step] : [...changes[step]].reverse();
    for (const number of come) shapes[number].removeAttribute("display");
    for (const number of go) shapes[number].setAttribute("display", "none");
  };
  const show = (wanted) => {
    const step = Math.max(0, Math.min(steps.length - 1, wanted));
    if (turn) turn(step, at);
    else {
      const one = Math.abs(step - at) === 1;
      const [come, go] = step > at ? changes[step] : [...changes[at]].reverse();
      const before = one ? go.map((number) => look(shapes[number])) : [];
      while (at < step) draw(++at, true);
      while (at > step) draw(at--, false);
      if (one) glide(before, come.map((number) => shapes[number]));
    }
    at = step;
    steps.forEach((each, number) => each.classList.toggle("shown", number === at));
    picture.setAttribute("aria-label", steps[at].dataset.board);
    slider.value = at;
    place.textContent = `${at} of ${steps.length - 1}`;
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };
  const button = (text, action) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", action);
    return made;
  };
  const step = (difference) => () => {
    stop();
    show(at + difference);
  };
  const play = button("Play", () => {
    if (timer) return stop();
    if (at === steps.length - 1) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      if (!frame.isConnected) return stop();
      show(at + 1);
      if (at === steps.length - 1) stop();
    }, 1000 * SECONDS_A_STEP);
  });
  slider.addEventListener("input", () => {
    stop();
    show(Number(slider.value));
  });
  const back = step(-1);
  const forward = step(1);
  controls.append(button("Back", back), play, button("Forward", forward), slider, place);
  frame.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === slider) return;
    if (event.key === "ArrowLeft") back();
    else if (event.key === "ArrowRight") forward();
    else if (event.key === "Home") step(-steps.length)();
    else if (event.key === "End") step(steps.length)();
    else return;
    event.preventDefault();
  });
  show(0);
}

export const players = (root) => root.querySelectorAll("[data-player]").forEach(player);

players(document);
