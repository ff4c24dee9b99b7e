// A twisty puzzle in space: turned by the pointer and the arrow keys, and its moves as turns of its parts. The server
// has drawn it already, from the same two sides; data-body says what it is made of (families/permutation/turning.py),
// data-stickers the colour of each sticker.
import { still } from "./player.js";

const SECONDS_A_TURN = 0.3;
const START = 4; // what the pointer goes before the body is turned, in pixels
const RADIANS_A_PIXEL = 0.008;
const RADIANS_A_KEY = 0.2;
const CELL = 36;

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const plus = (a, b, times = 1) => a.map((part, i) => part + times * b[i]);
const unit = (a) => plus([0, 0, 0], a, 1 / Math.hypot(...a));
const middle = (points) => points.reduce((sum, point) => plus(sum, point, 1 / points.length), [0, 0, 0]);

// A flat convex polygon, smaller by ``inset`` on all sides, its corners rounded.
const rounded = (corners, inset, round) =>
  corners.flatMap((here, i) => {
    const back = unit(plus(corners.at(i - 1), here, -1));
    const on = unit(plus(corners[(i + 1) % corners.length], here, -1));
    const corner = plus(here, plus(back, on), inset / Math.hypot(...cross(back, on)));
    const [first, last] = [plus(corner, back, round), plus(corner, on, round)];
    return [first, middle([first, corner, corner, last]), last];
  });

function around(axis, degrees) {
  const angle = (degrees * Math.PI) / 180;
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return (p) => p.map((part, i) => part * c + cross(axis, p)[i] * s + axis[i] * dot(axis, p) * (1 - c));
}

function hull(points) {
  const ordered = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [ordered, ordered.toReversed()].flatMap((some) => {
    const side = [];
    for (const [x, y] of some) {
      for (let [a, b] = side.slice(-2); b && (b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1]) <= 0.01; [a, b] = side.slice(-2)) side.pop();
      side.push([x, y, 0]);
    }
    return side.slice(0, -1);
  });
}

const looking = { yaw: 0, pitch: 0 }; // how the reader has turned the bodies of the page
const drawn = new Set();

// ``show(stickers)`` draws a board; ``turn(move, stickers, back)`` makes a move first, or takes it back.
export function solid(svg) {
  const body = JSON.parse(svg.dataset.body);
  const corners = body.faces.map((face) => Array.from({ length: face.length / 3 }, (_, i) => face.slice(3 * i, 3 * i + 3)));
  const faces = corners.map((face) => {
    const place = middle(face);
    const normal = unit(cross(plus(face[1], face[0], -1), plus(face[2], face[1], -1)));
    return { corners: face, place, normal: plus([0, 0, 0], normal, Math.sign(dot(normal, place))), sticker: rounded(face, body.inset, body.round) };
  });
  const scale = (body.scale * CELL) / 1000;
  let stickers = svg.dataset.stickers;
  let turning = { axis: [0, 1, 0], angles: new Map() };
  let newest = 0;

  // The faces in parts that turn as one, in their order along the axis.
  function parts() {
    const { axis, angles } = turning;
    const ordered = faces.map((face, i) => ({ ...face, i, angle: angles.get(i) ?? 0, level: dot(axis, face.place) }));
    if (angles.size) ordered.sort((a, b) => a.level - b.level);
    const found = [];
    for (const face of ordered) {
      if (found.at(-1)?.[0].angle === face.angle) found.at(-1).push(face);
      else found.push([face]);
    }
    return found;
  }

  function draw() {
    const polygon = (points, fill) => `<polygon points="${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")}" fill="${fill}"/>`;
    const text = body.views.flatMap(([left, top, yaw, pitch]) => {
      const [c, s] = [Math.cos(yaw + looking.yaw), Math.sin(yaw + looking.yaw)];
      const up = pitch + Math.sign(pitch) * looking.pitch;
      const [d, t] = [Math.cos(up), Math.sin(up)];
      const seen = ([x, y, z]) => [x * c + z * s, y * d - (z * c - x * s) * t, y * t + (z * c - x * s) * d];
      const flat = ([x, y, z]) => {
        const near = (scale * body.distance) / (body.distance - z);
        return [left * CELL + x * near, top * CELL - y * near, 0];
      };
      const nearest = parts();
      if (seen(turning.axis)[2] < 0) nearest.reverse();
      return nearest.map((part) => {
        const go = part[0].angle ? around(turning.axis, part[0].angle) : (point) => point;
        const place = (point) => flat(seen(go(point)));
        const outline = hull(part.flatMap((face) => face.corners.map(place)));
        const front = part.filter((face) => {
          const at = seen(go(face.place));
          return body.colours[parseInt(stickers[face.i], 36)] && dot(seen(go(face.normal)), [-at[0], -at[1], body.distance - at[2]]) > 0;
        });
        const shapes = front.map((face) => polygon(face.sticker.map(place), body.colours[parseInt(stickers[face.i], 36)]));
        return polygon(rounded(outline, 0, body.round * scale), body.plastic) + shapes.join("");
      });
    });
    svg.innerHTML = text.join("");
  }

  function show(board) {
    newest += 1;
    turning.angles = new Map();
    stickers = board;
    draw();
  }

  // Without ``board`` the parts stay where the move has taken them.
  function turn(move, board = null, back = false) {
    const known = body.turns[move];
    if (!known || still()) return board && show(board);
    const number = ++newest;
    const [axis, some] = known;
    const angles = some.flatMap(([angle, set]) => body.sets[set].map((i) => [i, back ? -angle : angle]));
    const began = performance.now();
    return new Promise((done) => {
      const step = (now) => {
        if (number !== newest) return done();
        const part = Math.min(1, Math.max(0, (now - began) / (1000 * SECONDS_A_TURN)));
        const share = part * part * (3 - 2 * part);
        turning = { axis: unit(axis), angles: new Map(angles.map(([i, angle]) => [i, share * angle])) };
        if (part === 1 && board) show(board);
        else draw();
        if (part < 1) requestAnimationFrame(step);
        else done();
      };
      requestAnimationFrame(step);
    });
  }

  hands(svg, () => drawn.forEach((each) => (each.svg.isConnected ? each.draw() : drawn.delete(each))));
  drawn.add({ svg, draw });
  draw();
  return { show, turn };
}

// Lets people turn what is drawn: by dragging, or by the arrow keys where it has the focus.
function hands(svg, draw) {
  let from = null;
  let dragged = false;
  const turn = (across, down) => {
    looking.yaw += across;
    looking.pitch = Math.max(-2, Math.min(1, looking.pitch + down));
    draw();
  };
  svg.setAttribute("tabindex", 0);
  svg.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (event.isPrimary && !event.button) from = [event.clientX, event.clientY];
  });
  svg.addEventListener("pointermove", (event) => {
    const [across, down] = from ? [event.clientX - from[0], event.clientY - from[1]] : [0, 0];
    if (!from || (!dragged && Math.hypot(across, down) < START)) return;
    if (!dragged) svg.setPointerCapture(event.pointerId);
    dragged = true;
    from = [event.clientX, event.clientY];
    // The second view shows the body from below: what goes down there goes up in the first.
    const side = event.clientX > svg.getBoundingClientRect().x + svg.getBoundingClientRect().width / 2 ? -1 : 1;
    turn(across * RADIANS_A_PIXEL, side * down * RADIANS_A_PIXEL);
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (from = null));
  svg.addEventListener("click", (event) => dragged && event.stopImmediatePropagation(), true);
  svg.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    turn(way[0] * RADIANS_A_KEY, way[1] * RADIANS_A_KEY);
  });
}

// What shows the steps of a path in a picture: a turn from one to the next, else the board alone.
export function turned(svg, steps) {
  const { show, turn } = solid(svg);
  const boards = steps.map((each) => each.dataset.change.split(" "));
  boards[0] = ["", svg.dataset.stickers];
  return (step, at) => {
    if (step === at + 1) turn(...boards[step]);
    else if (step === at - 1) turn(boards[at][0], boards[step][1], true);
    else show(boards[step][1]);
    svg.setAttribute("aria-label", steps[step].dataset.board);
  };
}
