// Shows the progress of a job as it comes. A lost connection is made again by EventSource; each event says all.
const place = document.getElementById("live");

function line(parent, name, value) {
  const term = document.createElement("dt");
  const description = document.createElement("dd");
  term.textContent = name;
  description.textContent = typeof value === "number" ? value.toLocaleString("en") : value;
  parent.append(term, description);
}

if (place) {
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
}
