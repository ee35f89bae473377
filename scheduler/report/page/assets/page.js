"use strict";
// The figures of each run as a table.
const data = JSON.parse(document.getElementById("replay-data").textContent);
for (const run of data.runs) {
  const heading = document.createElement("h2");
  heading.textContent = run.name + ": " + run.policy + " on " + run.machine;
  const table = document.createElement("table");
  for (const metric of run.metrics) {
    const row = table.insertRow();
    row.insertCell().textContent = metric.label;
    row.insertCell().textContent = metric.value === null ? "-" : metric.value.toPrecision(6) + " " + metric.unit;
  }
  document.getElementById("runs").append(heading, table);
}
