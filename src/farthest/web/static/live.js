// Shows the progress of a job as it comes. A lost connection is made again; each event says all.
const RETRY_MILLISECONDS = 3000;
const place = document.getElementById("live");

function line(parent, name, value) {
  const term = document.createElement("dt");
  const description = document.createElement("dd");
  term.textContent = name;
  description.textContent = typeof value === "number" ? value.toLocaleString("en") : value;
  parent.append(term, description);
}

function follow() {
  const source = new EventSource(place.dataset.events);
  source.addEventListener("progress", (event) => {
    const job = JSON.parse(event.data);
    const status = document.getElementById("status");
    if (status) status.textContent = job.status;
    const list = document.createElement("dl");
    list.className = "facts";
    for (const [name, value] of Object.entries(job.progress ?? {})) line(list, name.replaceAll("_", " "), value);
    if (job.layers?.length) line(list, "layers stored", job.layers.length);
    place.replaceChildren(list);
  });
  source.addEventListener("end", () => {
    source.close();
    location.reload();
  });
  source.addEventListener("error", () => {
    const notice = document.createElement("p");
    notice.className = "message";
    notice.textContent = "The connection is lost. It is tried again.";
    place.querySelector(".message")?.remove();
    place.append(notice);
    // EventSource itself makes a lost connection again, but none after an answer that is an error, as a proxy gives one.
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, RETRY_MILLISECONDS);
  });
}

if (place) follow();
