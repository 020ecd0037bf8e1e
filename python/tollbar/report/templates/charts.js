// SPDX-License-Identifier: Apache-2.0
// Draws each .chart from the points in it, as wide as it is; its legend switches curves, a pointer is told values.
(() => {
  const space = Object.assign(document.createElement("template"), { innerHTML: "<svg/>" }).content.firstChild.namespaceURI;
  const svgOf = (name, attributes, parent, text) => {
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  const digits = (value) => value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
  const time = (ns, text = digits) => {
    const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]].find(([, size]) => ns >= size * 0.9995) || ["ns", 1];
    return `${text(ns / size)} ${unit}`;
  };
  const plain = (value) => Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString("en") : String(+value.toPrecision(4));
  const told = (value, axis) =>
    axis.unit === "ns" ? time(value) : axis.unit === "share" ? `${Math.round(value * 100)} %` : plain(value);
  const tickText = (value, axis) => axis.unit === "ns" ? time(value, (part) => `${+part.toPrecision(3)}`) : told(value, axis);
  const DASHES = ["none", "6 3", "2 3", "9 3 2 3", "12 4", "1 2"];
  const SHAPES = [
    (r) => `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`,
    (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
    (r) => `M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0Z`,
    (r) => `M0 ${-1.3 * r}L${1.2 * r} ${r}H${-1.2 * r}Z`,
    (r) => `M0 ${1.3 * r}L${1.2 * r} ${-r}H${-1.2 * r}Z`,
  ];

  // From values to places: a function with the ends it covers and its ticks.
  const scaleOf = (axis, values, from, to, apart) => {
    let low = Math.min(...values), high = Math.max(...values);
    const log = axis.scale.startsWith("log");
    if (axis.scale === "linear") {
      low = Math.min(0, low);
      if (axis.unit === "share") high = 1;
      if (high <= low) high = low + 1;
    } else if (axis.scale === "log2") {
      if (high / low < 1.5) { low /= 2; high *= 2; }
    } else {
      const room = Math.max(Math.pow(high / low, 0.06), 1.25);
      low /= room; high *= room;
    }
    const at = log ? (v) => from + (to - from) * Math.log(v / low) / Math.log(high / low)
      : (v) => from + (to - from) * (v - low) / (high - low);
    return { at, low, high, ticks: ticksOf(axis, values, low, high, at, apart) };
  };
  const spread = (wanted, at, apart) => {
    const kept = [];
    for (const value of wanted) if (kept.every((other) => Math.abs(at(value) - at(other)) >= apart)) kept.push(value);
    return kept;
  };
  const ticksOf = (axis, values, low, high, at, apart) => {
    if (axis.scale === "log2") {
      const places = [...new Set(values)].sort((a, b) => a - b);
      const first = places.filter((v) => Number.isInteger(Math.log2(v)));
      return spread([...first, ...places], at, apart);
    }
    if (axis.scale === "log") {
      const found = [];
      for (const steps of [[1], [3], [2, 5]])
        for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
          for (const step of steps) if (step * 10 ** power >= low && step * 10 ** power <= high) found.push(step * 10 ** power);
      const decades = found.filter((v) => Number.isInteger(Math.round(Math.log10(v) * 1e6) / 1e6));
      return spread(decades.length > 2 ? decades : [...decades, ...found], at, apart);
    }
    const rough = (high - low) / Math.max(2, Math.abs(at(high) - at(low)) / (1.6 * apart));
    const power = 10 ** Math.floor(Math.log10(rough)), step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
    const found = [];
    for (let value = Math.ceil(low / step) * step; value <= high * 1.0001; value += step) found.push(+value.toPrecision(6));
    return found;
  };

  class Chart {
    constructor(box) {
      this.box = box;
      this.data = JSON.parse(box.querySelector("script").textContent);
      this.svg = box.querySelector("svg");
      this.hidden = new Set();
      this.tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
      this.tip.setAttribute("role", "status");
      box.append(this.legend(), this.tip);
      new ResizeObserver(() => this.draw()).observe(box);
      this.svg.addEventListener("pointermove", (event) => this.tell(event));
      this.svg.addEventListener("pointerdown", (event) => this.tell(event));
      this.svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") this.untell(); });
      document.addEventListener("pointerdown", (event) => { if (!this.svg.contains(event.target)) this.untell(); });
    }

    legend() {
      const legend = Object.assign(document.createElement("div"), { className: "legend" });
      const entries = new Map();  // lines of one series share an entry
      for (const one of this.data.series) entries.set(one.series || one, [...(entries.get(one.series || one) || []), one]);
      for (const lines of entries.values()) {
        const [one] = lines, name = one.series || one.name;
        const button = Object.assign(document.createElement("button"), { type: "button" });
        const key = svgOf("svg", { viewBox: "-12 -6 24 12", width: 24, height: 12, "aria-hidden": "true" });
        if (!this.data.rows) this.stroke(one, "M-11 0H11", key);
        this.mark(one, 0, 0, key, 3.4);
        button.append(key, name);
        button.setAttribute("aria-pressed", "true");
        button.title = `show or hide ${name}`;
        button.addEventListener("click", () => {
          for (const each of lines) if (!this.hidden.delete(each)) this.hidden.add(each);
          button.setAttribute("aria-pressed", String(!this.hidden.has(one)));
          this.untell();
          this.draw();
        });
        legend.append(button);
      }
      return legend;
    }

    colour(one) { return one.kind === "bound" ? "var(--ink)" : `var(--series-${one.colour})`; }

    stroke(one, path, parent) {
      if (one.kind === "printed") return;
      const dashes = { bound: ["2 3"], predicted: ["1 3", "1 6", "1 2 1 6"], measured: ["6 3", "12 4", "9 3 2 3"] }[one.kind] || DASHES;
      const dash = dashes[one.dash % dashes.length];
      const wider = one.covered ? `;stroke-width:${2 + 2.5 * one.covered}` : "";
      const style = `stroke:${this.colour(one)};stroke-dasharray:${dash}${wider}`;
      svgOf("path", { d: path, class: `curve ${one.kind}`, style }, parent);
    }

    mark(one, x, y, parent, size) {
      if (one.kind === "printed")
        svgOf("circle", { cx: x, cy: y, r: size + 1.6 + one.dash + 3 * (one.covered || 0), class: "printed", style: `stroke:${this.colour(one)}` }, parent);
      if (one.kind === "predicted")
        svgOf("circle", { cx: x, cy: y, r: size / 2, class: "mark", style: `fill:${this.colour(one)}` }, parent);
      if (one.kind !== "line" && one.kind !== "measured") return;
      const shape = SHAPES[(one.colour + one.dash) % SHAPES.length](size);
      svgOf("path", { d: shape, class: "mark", transform: `translate(${x} ${y})`, style: `fill:${this.colour(one)}` }, parent);
    }

    draw() {
      const width = Math.round(this.box.clientWidth);
      if (width < 50) return;
      const { data } = this, rows = data.rows, narrow = width < 480;
      this.shown = data.series.filter((each) => !this.hidden.has(each));
      const values = (which) => {
        const found = (this.shown.length ? this.shown : data.series).flatMap((each) =>
          each.points.flatMap((p) => [p[which], ...(which === (rows ? 0 : 1) ? p.slice(2, 4) : [])]));
        return found.filter((value) => typeof value === "number" && (value > 0 || !data[which ? "y" : "x"].scale.startsWith("log")));
      };
      const groups = rows ? new Set(rows.map((row) => row[0])).size : 0;
      this.step = rows && !narrow ? Math.min(34, Math.max(21, 300 / (rows.length + groups))) : narrow && rows && rows.length > 6 ? 17 : 21;
      const high = rows ? (rows.length + groups) * this.step + 44 : narrow ? Math.max(180, width * 0.56) : Math.min(360, width * 0.58);
      const height = Math.round(high);
      this.svg.replaceChildren();
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.svg.style.height = `${height}px`;
      const top = rows ? 4 : 22, bottom = height - 36;
      const y = rows ? this.rowScale(rows, top) : scaleOf(data.y, values(1), bottom, top, 26);
      const labels = rows ? rows.map((row) => row[1]) : y.ticks.map((value) => tickText(value, data.y));
      const left = 13 + 6.8 * Math.max(...labels.map((each) => each.length));
      const x = scaleOf(data.x, values(0), left + (rows ? 0 : data.bars ? 18 : 10), width - (data.bars ? 20 : 14), rows ? 58 : data.x.scale === "log2" ? 26 : 52);
      this.axes(x, y, left, width, top, bottom);
      this.spots = [];
      this.shown.forEach((one, i) => {  // bars side by side
        const aside = data.bars && !rows ? (i - (this.shown.length - 1) / 2) * 4 : 0;
        this.series(one, { ...x, at: (value) => x.at(value) + aside }, y);
      });
    }

    rowScale(rows, top) {
      const places = [];
      let next = top, group = null;
      for (const [name] of rows) {
        if (name !== group) { group = name; next += this.step; }
        places.push(next + this.step / 2);
        next += this.step;
      }
      return { at: (row) => places[row], ticks: [] };
    }

    axes(x, y, left, width, top, bottom) {
      const { data } = this, axes = svgOf("g", { class: "axes" }, this.svg);
      for (const value of y.ticks) {
        svgOf("path", { d: `M${left} ${y.at(value)}H${width - 6}` }, axes);
        svgOf("text", { x: left - 7, y: y.at(value) + 4, "text-anchor": "end" }, axes, tickText(value, data.y));
      }
      for (const value of x.ticks) {
        const place = x.at(value);
        svgOf("path", { d: data.rows ? `M${place} ${top}V${bottom + 8}` : `M${place} ${bottom}v5` }, axes);
        svgOf("text", { x: place, y: bottom + (data.rows ? 22 : 19), "text-anchor": "middle" }, axes, tickText(value, data.x));
      }
      if (!data.rows) svgOf("path", { d: `M${left} ${bottom}H${width - 6}`, class: "base" }, axes);
      (data.rows || []).forEach(([group, label], row) => {
        if (!row || data.rows[row - 1][0] !== group)
          svgOf("text", { x: 2, y: y.at(row) - this.step + 4, class: "group" }, axes, group);
        svgOf("text", { x: left - 9, y: y.at(row) + 4, "text-anchor": "end" }, axes, label);
      });
      if (data.y.label) svgOf("text", { x: 2, y: 11, class: "label" }, axes, data.y.label);
      svgOf("text", { x: width - 6, y: bottom + 34, "text-anchor": "end", class: "label" }, axes, data.x.label);
    }

    series(one, x, y) {
      const group = svgOf("g", { class: "series", "data-series": one.name }, this.svg);
      const points = one.points.filter((p) => p.every((v, i) => i > 1 || v > 0 || !(i ? this.data.y : this.data.x).scale.startsWith("log")));
      const ranged = points.filter((p) => typeof p[2] === "number");
      const floor = (value, scale) => scale.low > 0 ? Math.max(value, scale.low) : value;
      const colour = this.colour(one);
      if (this.data.rows || this.data.bars) {
        for (const [px, py, low, high] of ranged)
          svgOf("path", { class: "range", style: `stroke:${colour}`, d: this.data.rows
            ? `M${x.at(floor(low, x))} ${y.at(py)}H${x.at(high)}` : `M${x.at(px)} ${y.at(floor(low, y))}V${y.at(high)}` }, group);
      } else if (ranged.length > 1) {
        const there = ranged.map((p) => `${x.at(p[0])} ${y.at(floor(p[2], y))}`);
        const back = ranged.map((p) => `${x.at(p[0])} ${y.at(p[3])}`).reverse();
        svgOf("path", { class: "band", style: `fill:${colour}`, d: `M${[...there, ...back].join("L")}Z` }, group);
      }
      const places = points.map((p) => [x.at(p[0]), y.at(p[1])]);
      if (!this.data.rows && places.length) {
        const path = places.map(([px, py], i) => one.kind === "steps" && i ? `H${px}V${py}` : `${i ? "L" : "M"}${px} ${py}`);
        this.stroke(one, path.join(""), group);
      }
      places.forEach(([px, py], i) => {
        this.mark(one, px, py, group, this.data.rows ? 4.5 : 3.4);
        this.spots.push({ one, x: px, y: py, point: points[i] });
      });
    }

    tell(event) {
      const box = this.svg.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      const far = (spot) => Math.hypot(spot.x - px, spot.y - py);
      const near = (this.spots || []).reduce((best, spot) => !best || far(spot) < far(best) ? spot : best, null);
      this.untell();
      if (!near || far(near) > 60) return;
      const { data } = this, [x, y, low, high, note] = near.point;
      const value = data.rows ? x : y, axis = data.rows ? data.x : data.y;
      const where = data.rows ? data.rows[y].join(", ") : `${told(x, data.x)} ${data.x.unit ? "" : data.x.label}`;
      const line = (name, text) => this.tip.append(Object.assign(document.createElement(name), { textContent: text }));
      this.tip.replaceChildren();
      line("span", `${near.one.name}, ${where}`);
      line("strong", data.y.unit === "share" ? `${told(value, axis)} within ${told(x, data.x)}` : told(value, axis));
      if (typeof low === "number") line("span", `${note || data.spread}: ${told(low, axis)} to ${told(high, axis)}`);
      else if (note) line("span", note);
      this.tip.style.borderColor = this.colour(near.one);
      this.tip.hidden = false;
      const shift = near.x > box.width / 2 ? near.x - this.tip.offsetWidth - 12 : near.x + 12;
      this.tip.style.left = `${Math.max(0, Math.min(shift, box.width - this.tip.offsetWidth))}px`;
      this.tip.style.top = `${Math.max(0, near.y - this.tip.offsetHeight - 8)}px`;
      this.ring = svgOf("circle", { cx: near.x, cy: near.y, r: 8, class: "ring", style: `stroke:${this.colour(near.one)}` }, this.svg);
    }

    untell() {
      this.tip.hidden = true;
      if (this.ring) this.ring.remove();
    }
  }

  for (const box of document.querySelectorAll(".chart")) new Chart(box);
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    for (const own of target ? target.querySelectorAll(":scope > details") : []) own.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
