// Paper: canvases as images. Chromium prints a canvas with masks that several viewers of PDF show clipped or empty.

/** Puts an image of the canvases of `box`, and of the labels of a dygraph in it, in their place. */
function freeze(box, ratio) {
  const canvases = [...box.querySelectorAll("canvas")];
  const {clientWidth: width, clientHeight: height} = box;
  if (canvases.length === 0 || width === 0) return;
  const all = element("canvas", {width: width * ratio, height: height * ratio});
  const context = all.getContext("2d");
  context.scale(ratio, ratio);
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, width, height);
  const frame = box.getBoundingClientRect();
  for (const canvas of canvases) {
    const {left, top, width: wide, height: high} = canvas.getBoundingClientRect();
    context.drawImage(canvas, left - frame.left, top - frame.top, wide, high);
  }
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = "#4b5563";
  for (const label of box.querySelectorAll(".dygraph-axis-label")) {
    const {left, right, top, bottom} = label.getBoundingClientRect();
    const isRight = label.classList.contains("dygraph-axis-label-y");
    context.textAlign = isRight ? "right" : "center";
    context.textBaseline = "middle";
    context.fillText(label.textContent, (isRight ? right : (left + right) / 2) - frame.left, (top + bottom) / 2 - frame.top);
  }
  box.append(element("img", {class: "frozen", src: all.toDataURL(), alt: ""}));
  box.classList.add("is-frozen");
}

function thaw(box) {
  for (const image of box.querySelectorAll("img.frozen")) image.remove();
  box.classList.remove("is-frozen");
  for (const inner of box.querySelectorAll(".is-frozen")) inner.classList.remove("is-frozen");
}
