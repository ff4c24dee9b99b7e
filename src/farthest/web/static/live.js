// Shows the progress of a job as it comes. Each event says all, so that a reader who has missed some needs nothing of them.
const AGAIN_SECONDS = 5;
const place = document.getElementById("live");

function replace(parent, selector, items) {
  parent.querySelector(selector).replaceChildren(...items);
}

function cell(name, text, kind) {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function show(job) {
  const status = document.getElementById("status");
  if (status && status.textContent !== job.status) {
    status.textContent = job.status;
    status.className = `status ${job.status}`;
  }
  replace(place, "dl", job.told.flatMap(([name, value]) => [cell("dt", name), cell("dd", value)]));
  const table = document.getElementById("live-rows");
  if (!table || !job.rows) return;
  const line = (row) => {
    const made = document.createElement("tr");
    made.append(...row.map((text) => cell("td", text, "number")));
    return made;
  };
  replace(table, "tbody", job.rows.map(line));
}

// The server's own SVG, of numbers alone.
function draw(chart) {
  const parent = document.getElementById("live-chart");
  if (parent) parent.replaceChildren(...new DOMParser().parseFromString(chart, "text/html").body.childNodes);
}

function connection(text) {
  const line = place.querySelector("[data-connection]");
  if (line.textContent !== text) line.textContent = text;
}

// EventSource makes a connection that was lost again by itself, but gives up at an answer that is an error: then another
// one is made.
function follow() {
  const source = new EventSource(place.dataset.events);
  source.addEventListener("open", () => connection(""));
  source.addEventListener("error", () => {
    connection("The connection to the server is lost; trying again.");
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, 1000 * AGAIN_SECONDS);
  });
  source.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  source.addEventListener("chart", (event) => draw(JSON.parse(event.data)));
  source.addEventListener("end", () => {
    source.close();
    location.reload();
  });
}

if (place) follow();
