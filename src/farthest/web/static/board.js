// Lets people drag the pieces of a board; and where a board asks for it, choose a piece and then where it goes. Each
// move is a link of the picture, which says where its piece is (data-from), where it goes (data-to: x y width height),
// and which shapes go along.
import { still } from "./player.js";

const START = 4; // what the pointer goes before a piece is dragged, in pixels
const SECONDS_A_MOVE = 0.15;

const rectangle = (text) => text.split(" ").map(Number);

export function way(link) {
  if (!link.dataset.to) return [0, 0];
  const [x, y, width, height] = rectangle(link.dataset.from);
  const [toX, toY, toWidth, toHeight] = rectangle(link.dataset.to);
  return [toX + toWidth / 2 - x - width / 2, toY + toHeight / 2 - y - height / 2];
}

// Draws the shapes of a move a part of its way along, 0 to 1.
function shift(link, part) {
  const [x, y] = way(link);
  for (const number of link.dataset.shapes.match(/\d+/g) ?? []) {
    const shape = link.ownerSVGElement.querySelector(`[data-shape="${number}"]`);
    if (part) shape.setAttribute("transform", `translate(${part * x} ${part * y})`);
    else shape.removeAttribute("transform");
  }
  link.dataset.part = part;
}

// Lets the piece go the rest of its way.
export function settle(link) {
  const from = Number(link.dataset.part ?? 0);
  if (still() || !link.dataset.to || from === 1) return Promise.resolve();
  const began = performance.now();
  return new Promise((done) => {
    const step = (now) => {
      const part = Math.min(1, from + (now - began) / (1000 * SECONDS_A_MOVE));
      shift(link, part);
      if (part < 1) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  });
}

function targets(svg, links, follow) {
  for (const link of links) {
    const [x, y, width, height] = rectangle(link.dataset.to);
    const mark = document.createElementNS(svg.namespaceURI, "rect");
    for (const [name, value] of Object.entries({ class: "target", x, y, width, height, rx: 3 })) mark.setAttribute(name, value);
    mark.addEventListener("click", () => follow(link));
    svg.append(mark);
  }
}

function board(svg, follow) {
  const links = [...svg.querySelectorAll("a")];
  const beside = (link) => links.filter((each) => each.dataset.to && each.dataset.from === link.dataset.from);
  let drag = null;
  let dragged = false;
  let chosen = null;

  const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const choose = (link) => {
    svg.querySelectorAll(".target").forEach((each) => each.remove());
    chosen = link?.dataset.from === chosen ? null : link?.dataset.from;
    if (chosen) targets(svg, beside(link), follow);
  };
  const nearest = (x, y) => {
    let best = { link: null, part: 0, off: Infinity };
    for (const link of drag.links) {
      const [toX, toY] = way(link);
      const part = Math.max(0, Math.min(1, (x * toX + y * toY) / (toX * toX + toY * toY)));
      const off = Math.hypot(x - part * toX, y - part * toY);
      if (off < best.off - 0.01) best = { link, part, off };
    }
    return best;
  };

  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("pointerdown", (event) => {
    const link = event.target.closest("a");
    dragged = false;
    if (!link || event.button || !event.isPrimary) return;
    const some = beside(link).sort((a, b) => Math.hypot(...way(a)) - Math.hypot(...way(b)));
    drag = { at: place(event), x: event.clientX, y: event.clientY, links: some, link: null, part: 0 };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!drag || (!dragged && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < START)) return;
    if (!dragged) svg.setPointerCapture(event.pointerId);
    dragged = true;
    const at = place(event);
    const { link, part } = nearest(at.x - drag.at.x, at.y - drag.at.y);
    if (drag.link && drag.link !== link) shift(drag.link, 0);
    Object.assign(drag, { link, part });
    if (link) shift(link, part);
  });
  const end = (event) => {
    if (!drag) return;
    const { link, part } = drag;
    drag = null;
    if (!link) return;
    if (event.type === "pointerup" && part > 0.5) follow(link);
    else shift(link, 0);
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
  svg.addEventListener(
    "click",
    (event) => {
      const link = event.target.closest("a");
      if (dragged) {
        event.preventDefault();
        event.stopPropagation();
      } else if (link?.dataset.chosen !== undefined && event.detail && beside(link).length > 1) {
        event.preventDefault();
        event.stopPropagation();
        choose(link);
      } else if (!event.target.matches(".target")) choose(null);
      dragged = false;
    },
    true,
  );
}

export const boards = (root, follow) => root.querySelectorAll("svg.moving").forEach((svg) => board(svg, follow));
