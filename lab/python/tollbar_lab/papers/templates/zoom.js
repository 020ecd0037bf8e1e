// SPDX-License-Identifier: Apache-2.0
// In an SVG: Ctrl and the wheel zoom around the pointer, dragging moves, a double click shows everything again.
(() => {
  const svg = document.currentScript.closest("svg");
  const whole = svg.getAttribute("viewBox").split(/[\s,]+/).map(Number);
  let [x, y, width, height] = whole;
  let held = null;
  const show = () => svg.setAttribute("viewBox", [x, y, width, height].join(" "));
  const scale = () => width / svg.getBoundingClientRect().width;
  svg.style.touchAction = "pan-y";
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && width === whole[2] && svg.ownerDocument.documentElement !== svg) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    const factor = Math.min(Math.exp(event.deltaY / 400), whole[2] / width);
    x += (event.clientX - box.left) / box.width * width * (1 - factor);
    y += (event.clientY - box.top) / box.height * height * (1 - factor);
    width *= factor;
    height *= factor;
    show();
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; });
  svg.addEventListener("pointermove", (event) => {
    if (!held || width === whole[2]) return;
    x -= (event.clientX - held[0]) * scale();
    y -= (event.clientY - held[1]) * scale();
    held = [event.clientX, event.clientY];
    show();
  });
  for (const end of ["pointerup", "pointerleave"]) svg.addEventListener(end, () => { held = null; });
  svg.addEventListener("dblclick", () => { [x, y, width, height] = whole; show(); });
})();
