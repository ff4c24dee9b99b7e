// Shows how far the search for a solution is, as long as it goes on; the solution is exchanged for a shorter one alone.
import { beginLine } from "./state.js";

const SECONDS = 1;
const part = (name, root = document) => root.querySelector(`[data-part=${name}]`);

async function renew(address) {
  const answer = await fetch(address);
  if (!answer.ok || part("status")?.dataset.running !== address) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [status, line] = ["status", "line"].map((name) => part(name, page));
  if (!status) return location.reload();
  part("status").replaceWith(status);
  if (part("line").dataset.moves === line.dataset.moves) return;
  part("line").replaceWith(line);
  beginLine();
}

setInterval(() => {
  const address = part("status")?.dataset.running;
  if (!document.hidden && address) renew(address).catch(() => {});
}, 1000 * SECONDS);
