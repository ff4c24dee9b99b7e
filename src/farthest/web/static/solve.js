// Shows how far the search for a solution is, as long as it goes on; the solution is exchanged for a shorter one alone.
import { players } from "./player.js";

const SECONDS = 1;
const part = (root, name) => root.querySelector(`[data-part=${name}]`);

async function renew() {
  const address = location.href;
  const answer = await fetch(address);
  if (!answer.ok || location.href !== address) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [status, solution] = ["status", "answer"].map((name) => part(page, name));
  if (!status) return location.reload();
  part(document, "status").replaceWith(status);
  if (part(document, "answer").dataset.moves !== solution.dataset.moves) {
    part(document, "answer").replaceWith(solution);
    players(solution);
  }
}

setInterval(() => {
  if (!document.hidden && part(document, "status")?.dataset.running !== undefined) renew().catch(() => {});
}, 1000 * SECONDS);
