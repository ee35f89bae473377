// The dialog with the keys, and the signs of the picture.

const kHelpKeys = [
  ["w s", "zoom in and out"], ["a d", "pan left and right"], ["ctrl + wheel", "zoom at the pointer"], ["shift + wheel", "pan"],
  ["drag", "pan; two fingers: zoom"], ["+ -", "zoom cores (also alt + wheel)"], ["0", "the whole run"], ["click", "select a job"],
  ["arrows", "from job to job, in a Gantt chart"], ["Enter", "to the data of the job"], ["f", "show all of the selected job"],
  ["m", "mark its time, or remove the mark"], ["/", "filter"], ["c", "next colours"], ["t", "dark or light"], ["Esc", "close, deselect"],
  ["?", "this help"],
];

// Class of the sample, bit of the stretches' flags that says it, name, explanation.
const kSigns = [["shrunk", kShrunk, "shrunk", "fewer cores than processes"], ["grouped", kGrouped, "in a group", "jobs put together on nodes"],
                ["shareable", kShareable, "shareable", "another job may be on its cores or nodes"],
                ["suspended", kSuspended, "suspended", "its cores are free meanwhile"],
                ["half", 0, "halves of a core", "two jobs share it"], ["faint", 0, "faint", "several jobs, too short for this zoom"]];

/** The signs that occur in the runs. */
function signSamples(data) {
  let all = 0;
  for (const run of data.runs) for (const flags of run.stretches.columns.flags || []) all |= flags;
  return kSigns.filter(([, bit]) => all & bit).map(([name, , text]) => [name, text]);
}

function helpDialog() {
  const rows = kHelpKeys.map(([keys, text]) => element("tr", {}, element("th", {scope: "row"},
    keys.split(" ").map((key) => (key === "+" && keys.length > 3 ? " + " : element("kbd", {}, key)))), element("td", {}, text)));
  const signs = kSigns.map(([name, , text, more]) => [name, `${text}: ${more}`]);
  const close = element("button", {type: "button", "aria-label": "close", autofocus: true, onclick: () => dialog.close()}, "×");
  const dialog = element("dialog", {class: "help", "aria-label": "keys and signs"}, element("header", {}, element("h2", {}, "Keys"), close),
    element("table", {}, element("tbody", {}, rows)), element("h2", {}, "Signs"),
    element("ul", {class: "signs"}, signs.map(([name, text]) => element("li", {}, element("span", {class: `sign ${name}`, "aria-hidden": "true"}), text))),
    element("p", {}, "✕ behind a number: the job failed, was killed or used up its estimate. 5 for 6: job 5, shrunk for job 6."),
    element("h2", {}, "Filter"), element("p", {}, kFilterWords, ". All words have to hold."));
  document.body.append(dialog);
  return dialog;
}
