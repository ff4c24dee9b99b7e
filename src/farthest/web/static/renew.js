// Reads the page again every few seconds, while it is looked at.
const SECONDS = 5;

async function renew() {
  if (document.hidden) return;
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
}

setInterval(() => renew().catch(() => {}), 1000 * SECONDS);
