// "Catch the table": the rows of a printed table, and the objects that they may be about.
"use strict";

(() => {
  const { make, line, text } = drawing;
  const MASKS = ["person visible", "noisy mask", "full mask"];
  const SHOWN = 0.06; // per cent of the scale that a cell shows to each side of its number
  const DRAWS = 10000;
  const printed = (last) => `${last < 0 ? "−" : ""}${(Math.abs(last) / 100).toFixed(2)}`;

  /** One printed number over the values that are possible for its object's images. */
  function comb(last, images) {
    const [width, height] = [96, 26];
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const x = (value) => width / 2 + ((value - last) / (100 * SHOWN)) * 6;
    if (images !== null) {
      const step = 10000 / (5 * images);
      const [first, end] = [-1, 1].map((side) => (last + (side * width * 100 * SHOWN) / 12) / step);
      let path = "";
      for (let tooth = Math.ceil(first); tooth <= end; tooth += 1) path += `M${x(tooth * step).toFixed(1)} 14V${height}`;
      svg.append(make("path", { d: path, class: "play-teeth" }));
    }
    svg.append(line(width / 2, 8, width / 2, height, "play-number"));
    return svg;
  }

  function start(place, { names, images, rows, cocoOrder }) {
    const possible = combs.table(rows, images);
    const identity = names.map((_, index) => index);
    const coco = cocoOrder.map((name) => names.indexOf(name));
    const person = images.indexOf(null);
    const testable = 3 * (rows.length - 1);
    let order = [...identity];
    let lifted = null;

    const words = make("p", { class: "play-words", "aria-live": "polite" });
    const body = make("tbody");
    const head = make("tr", {}, make("th", { scope: "col" }, "object"), ...MASKS.map((mask) => make("th", { scope: "col" }, mask)));
    const grid = make("div", { class: "play-table", tabindex: 0, role: "region", "aria-label": "Table 3" }, make("table", {}, make("thead", {}, head), body));
    const histogram = make("svg", { role: "img", class: "play-histogram" });
    histogram.setAttribute("hidden", "");

    const cells = rows.map((row, index) => {
      const label = make("button", { type: "button", class: "play-object", "data-row": index });
      const numbers = row.map(() => make("td"));
      body.append(make("tr", { "data-row": index }, make("th", { scope: "row" }, label), ...numbers));
      label.addEventListener("keydown", (event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!step || !(index + step in order)) return;
        event.preventDefault();
        exchange(index, index + step);
        body.querySelector(`button[data-row="${index + step}"]`).focus();
      });
      label.addEventListener("click", () => {
        if (lifted === null) lifted = index;
        else { exchange(lifted, index); lifted = null; }
        mark();
      });
      label.addEventListener("pointerdown", (event) => drag(event, index));
      return { label, numbers };
    });

    function draw(index) {
      const object = order[index];
      const { label, numbers } = cells[index];
      const count = images[object] === null ? "in every image" : `${images[object]} images`;
      label.textContent = names[object].replaceAll("_", " ");
      label.setAttribute("aria-label", `${label.textContent}, ${count}, ${possible[index][object]} of 3 lock. Arrow keys move it.`);
      numbers.forEach((cell, column) => {
        const last = rows[index][column];
        const isLocked = combs.locks(last, images[object]);
        cell.className = object === person ? "" : isLocked ? "play-locked" : "play-loose";
        cell.replaceChildren(make("span", {}, printed(last), isLocked ? " ✓" : ""), comb(last, images[object]));
      });
    }

    function say(before = "") {
      words.textContent = `${before}${combs.locked(possible, order)} of ${testable} numbers lock.`;
    }
    function mark() {
      cells.forEach(({ label }, index) => label.classList.toggle("play-lifted", index === lifted));
      if (lifted !== null) say(`Press the object with which ${names[order[lifted]].replaceAll("_", " ")} changes places. `);
    }
    function exchange(one, other) {
      [order[one], order[other]] = [order[other], order[one]];
      [one, other].forEach(draw);
      say();
    }
    function set(wanted, before) {
      order = [...wanted];
      lifted = null;
      order.forEach((_, index) => draw(index));
      mark();
      say(before);
    }

    /** An object that is dragged onto another one changes places with it. */
    function drag(event, index) {
      const from = event.clientY;
      const move = ({ clientY }) => {
        if (Math.abs(clientY - from) <= 6) return;
        cells[index].label.classList.add("play-lifted");
        // Near an end of what is visible, the rows behind it come.
        const { top, bottom } = grid.getBoundingClientRect();
        if (clientY < top + 50) grid.scrollTop -= 15;
        if (clientY > bottom - 50) grid.scrollTop += 15;
      };
      const cancel = () => {
        window.removeEventListener("pointermove", move);
        window.removeEventListener("pointerup", drop);
        window.removeEventListener("pointercancel", cancel);
        mark();
      };
      const drop = (up) => {
        cancel();
        const under = document.elementFromPoint(up.clientX, up.clientY);
        const row = under && under.closest("tr[data-row]");
        if (row && body.contains(row) && Number(row.dataset.row) !== index) exchange(index, Number(row.dataset.row));
      };
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", drop, { once: true });
      window.addEventListener("pointercancel", cancel, { once: true });
    }

    /** How many numbers lock in each of many random orders. */
    function many() {
      const next = chance.random(Math.floor(Math.random() * 2 ** 32));
      const results = Array.from({ length: DRAWS }, () => combs.locked(possible, chance.shuffled(identity, next)));
      const counts = Array(testable + 1).fill(0);
      for (const result of results) counts[result] += 1;
      const mean = results.reduce((sum, result) => sum + result, 0) / DRAWS;
      const most = Math.max(...results);
      const width = Math.max(place.clientWidth, 280);
      const [height, tallest] = [130, Math.max(...counts)];
      const x = (value) => 10 + (value / testable) * (width - 20);
      const bars = counts.flatMap((count, value) => (count ? [line(x(value), 92, x(value), 92 - 84 * (count / tallest), "play-bar")] : []));
      const marks = [[combs.locked(possible, identity), "as printed", "start"], [combs.locked(possible, coco), "COCO's order", "end"]];
      const labels = marks.flatMap(([value, label, anchor]) => [line(x(value), 20, x(value), 98, "play-truth"), text(x(value), 124, `${label}: ${value}`, anchor)]);
      const ticks = [0, 50, 100, 150].map((value) => text(x(value), 110, String(value), "middle"));
      histogram.removeAttribute("hidden");
      for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) histogram.setAttribute(key, value);
      words.textContent = `In ${DRAWS.toLocaleString("en")} random orders, ${mean.toFixed(0)} of ${testable} numbers lock on average, and ${most} at most.`;
      histogram.setAttribute("aria-label", words.textContent);
      histogram.replaceChildren(...bars, line(x(0), 92, x(testable), 92, "play-rule"), ...ticks, ...labels);
    }

    const button = (label, press) => {
      const node = make("button", { type: "button" }, label);
      node.addEventListener("click", press);
      return node;
    };
    const buttons = make("div", { class: "play-buttons" });
    buttons.append(
      button("As printed", () => set(identity, "As printed: ")),
      button("COCO's order", () => set(coco, "In COCO's order: ")),
      button("A random order", () => set(chance.shuffled(identity, chance.random(Math.floor(Math.random() * 2 ** 32))), "In this random order: ")),
      button("Ten thousand random orders", many),
    );
    place.replaceChildren(buttons, words, histogram, grid);
    set(identity, "As printed: ");
  }

  const place = document.getElementById("game-of-the-table");
  if (place) start(place, playData.table3);
})();
