// The dialog with the keys, and the signs of the picture.

const kHelpKeys = [
  ["w s", "zoom in and out"], ["a d", "pan left and right"], ["ctrl + wheel", "zoom at the pointer"], ["shift + wheel", "pan"],
  ["drag", "pan; two fingers: zoom"], ["+ -", "zoom cores (also alt + wheel)"], ["0", "the whole run"], ["click", "select a job"],
  ["arrows", "from job to job, in a Gantt chart"], ["Enter", "to the data of the job"], ["f", "show all of the selected job"],
  ["m", "mark its time, or remove the mark"], ["/", "filter"], ["c", "next colours"], ["t", "dark or light"], ["Esc", "close, deselect"],
  ["?", "this help"],
];

function helpDialog() {
  const rows = kHelpKeys.map(([keys, text]) => element("tr", {}, element("th", {scope: "row"},
    keys.split(" ").map((key) => (key === "+" && keys.length > 3 ? " + " : element("kbd", {}, key)))), element("td", {}, text)));
  const signs = [["shrunk", "diagonals: shrunk, fewer cores than processes"], ["grouped", "bar on top: in a group of jobs"],
                 ["shareable", "dots below: another job may be on its cores or nodes"], ["suspended", "net: suspended, its cores are free"],
                 ["half", "halves of a core: two jobs share it"], ["faint", "faint: several jobs, too short for this zoom"]];
  const close = element("button", {type: "button", onclick: () => dialog.close()}, "close");
  const dialog = element("dialog", {class: "help", "aria-label": "keys and signs"}, element("h2", {}, "Keys"),
    element("table", {}, element("tbody", {}, rows)), element("h2", {}, "Signs"),
    element("ul", {class: "signs"}, signs.map(([name, text]) => element("li", {}, element("span", {class: `sign ${name}`, "aria-hidden": "true"}), text))),
    element("p", {}, "Filter: ", kFilterHelp, ". Words are combined: all have to hold."), close);
  document.body.append(dialog);
  return dialog;
}
