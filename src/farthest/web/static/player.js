// Makes a player of each list of boards: one board at a time, with a slider, buttons and the arrow keys.
const SECONDS_A_STEP = 0.45;

function player(list) {
  const steps = [...list.children];
  if (steps.length < 2) return;
  const frame = document.createElement("div");
  frame.className = "player";
  list.before(frame);
  const controls = document.createElement("div");
  controls.className = "controls";
  frame.append(list, controls);

  let at = 0;
  let timer = null;
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", min: 0, max: steps.length - 1, value: 0 });
  slider.setAttribute("aria-label", "Step of the path");
  const place = document.createElement("span");

  const show = (step) => {
    at = Math.max(0, Math.min(steps.length - 1, step));
    steps.forEach((each, number) => each.classList.toggle("shown", number === at));
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

document.querySelectorAll("[data-player]").forEach(player);
