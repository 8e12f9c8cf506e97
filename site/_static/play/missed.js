// "Who is missed?": two groups of people, a threshold, and the two kinds of mistakes with their intervals.
"use strict";

(() => {
  const { make, line, dot, text, control } = drawing;
  const COLUMNS = 10; // the risk scores, 1 to 10
  const MOST = 1000; // people of each group
  const Z = 1.959963984540054;
  const percent = (share) => `${Math.round(100 * share)} %`;

  /** People drawn from the real counts, in a random order, as many charged again as the base rate says. */
  function people({ again, not }, next) {
    const scores = (counts) => chance.shuffled(counts.flatMap((count, index) => Array(count).fill(index + 1)), next);
    return { again: scores(again), not: scores(not) };
  }

  /** The mistakes among the first people: who is missed, and who is falsely flagged. */
  function mistakes(group, { number, rate, threshold }) {
    const charged = Math.round(number * rate);
    const again = group.again.slice(0, charged);
    const not = group.not.slice(0, number - charged);
    const missed = again.filter((score) => score < threshold).length;
    const flagged = not.filter((score) => score >= threshold).length;
    return { again, not, missed, flagged };
  }

  /** People as dots over their scores: squares were charged again, circles were not; mistakes are orange. */
  function crowd(canvas, { again, not }, threshold) {
    const scale = 2;
    const width = Math.max(canvas.parentNode.clientWidth, 200);
    const height = 150;
    canvas.width = scale * width;
    canvas.height = scale * height;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const style = getComputedStyle(canvas);
    const colour = (kind) => style.getPropertyValue(`--dot-${kind}`);
    const column = width / COLUMNS;
    const tallest = Math.max(...Array.from({ length: COLUMNS }, (_, index) => [...again, ...not].filter((score) => score === index + 1).length), 1);
    // The largest dots with which the fullest column finds room.
    let size = 14;
    while (size > 2 && Math.ceil(tallest / Math.max(Math.floor((column - 4) / size), 1)) * size > height - 4) size -= 0.5;
    const across = Math.max(Math.floor((column - 4) / size), 1);
    const filled = Array(COLUMNS + 1).fill(0);
    const put = (score, isAgain) => {
      const place = filled[score];
      filled[score] += 1;
      const x = (score - 1) * column + 2 + ((place % across) + 0.5) * size;
      const y = height - (Math.floor(place / across) + 0.5) * size;
      const isMistake = isAgain ? score < threshold : score >= threshold;
      context.fillStyle = colour(isMistake ? "wrong" : "closed");
      context.strokeStyle = context.fillStyle;
      context.beginPath();
      const r = size * 0.38;
      if (isAgain) context.rect(x - r, y - r, 2 * r, 2 * r);
      else context.arc(x, y, r, 0, 7);
      if (isAgain) context.fill();
      else { context.lineWidth = Math.max(size / 8, 0.8); context.stroke(); }
    };
    again.forEach((score) => put(score, true));
    not.forEach((score) => put(score, false));
    context.strokeStyle = style.color;
    context.lineWidth = 2;
    context.setLineDash([5, 3]);
    context.beginPath();
    const x = (threshold - 1) * column;
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
  }

  /** Rates with their intervals, one line for each group. */
  function rates(svg, rows, words) {
    const width = Math.max(svg.parentNode.clientWidth, 240);
    const height = 24 * rows.length + 22;
    const x = (share) => 8 + share * (width - 16);
    for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": words })) svg.setAttribute(key, value);
    const shapes = [0, 0.25, 0.5, 0.75, 1].map((tick) => text(x(tick), height - 4, percent(tick), tick === 0 ? "start" : tick === 1 ? "end" : "middle"));
    shapes.push(line(x(0), height - 18, x(1), height - 18, "play-rule"));
    rows.forEach(({ share, limits, name }, index) => {
      const y = 12 + 24 * index;
      shapes.push(line(x(limits[0]), y, x(limits[1]), y, "play-interval"), dot(x(share), y, "play-estimate", 5));
      const isRight = limits[1] < 0.6;
      shapes.push(text(isRight ? x(limits[1]) + 8 : x(limits[0]) - 8, y + 4, name, isRight ? "start" : "end"));
    });
    svg.replaceChildren(...shapes);
  }

  function start(place, groups) {
    const next = chance.random(11);
    const drawn = groups.map((group) => people(group, next));
    const sliders = [
      { name: "threshold", label: "Called high risk from score", min: 1, max: COLUMNS, step: 1, value: 5 },
      { name: "number", label: "People checked in each group", min: 20, max: MOST, step: 20, value: 100 },
      ...groups.map(({ name, rate }, index) => ({
        name: `rate${index}`, label: `Charged again, ${name}`, min: 0.1, max: 0.9, step: 0.01, value: rate, shown: percent,
      })),
    ];
    const form = make("form", { class: "calculator-controls" }, ...sliders.map(control));
    const words = make("p", { class: "play-words", "aria-live": "polite" });
    const crowds = groups.map(({ name }) => {
      const canvas = make("canvas", { role: "img" });
      const figure = make("figure", {}, make("figcaption", {}, name), make("div", {}, canvas));
      return { canvas, figure };
    });
    const pictures = ["missed", "flagged"].map(() => make("svg", { role: "img" }));
    const titles = ["Missed: of those charged again, called low risk", "Falsely flagged: of those not charged again, called high risk"];
    place.replaceChildren(form, make("div", { class: "play-two" }, ...crowds.map(({ figure }) => figure)), words);
    pictures.forEach((picture, index) => place.append(make("div", {}, make("h3", {}, titles[index]), picture)));

    function draw() {
      const given = Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, Number(value)]));
      const results = drawn.map((group, index) => mistakes(group, { ...given, rate: given[`rate${index}`] }));
      const parts = results.map(({ again, not, missed, flagged }, index) => {
        const rate = (count, of) => ({ name: groups[index].name, share: count / of, limits: numbers.wilson(count, of, Z), count, of });
        return { missed: rate(missed, again.length), flagged: rate(flagged, not.length) };
      });
      parts.forEach(({ missed, flagged }, index) => {
        const canvas = crowds[index].canvas;
        canvas.setAttribute("aria-label", `${groups[index].name}: ${missed.count} of ${missed.of} missed, ${flagged.count} of ${flagged.of} falsely flagged`);
        crowd(canvas, results[index], given.threshold);
      });
      const verdict = (kind) => {
        const [a, b] = parts.map((part) => part[kind]);
        const [low, high] = numbers.METHODS.newcombe(a.count, a.of, b.count, b.of, 0.05);
        const ends = [low, high].map((end) => Math.round(100 * end).toString().replace("-", "−")).join(" to ");
        const meaning = low > 0 || high < 0 ? "excludes 0, so these people show a difference" : "contains 0, so it may be luck";
        return `${kind === "missed" ? "Missed, among those charged again" : "Falsely flagged, among those not charged again"}: ${percent(a.share)} of ${a.name} and ${percent(b.share)} of ${b.name}. ` +
          `The interval of the difference, ${ends} points, ${meaning}.`;
      };
      words.textContent = `${verdict("missed")} ${verdict("flagged")}`;
      pictures.forEach((picture, index) => {
        const kind = ["missed", "flagged"][index];
        const said = parts.map((part) => `${part[kind].name} ${percent(part[kind].share)}, interval ${part[kind].limits.map(percent).join(" to ")}`).join("; ");
        rates(picture, parts.map((part) => part[kind]), `${titles[index]}. ${said}`);
      });
    }

    form.addEventListener("input", draw);
    form.addEventListener("submit", (event) => event.preventDefault());
    new ResizeObserver(draw).observe(place);
    new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  const place = document.getElementById("game-of-the-missed");
  if (place) start(place, playData.compas);
})();
