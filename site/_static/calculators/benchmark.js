// How small a bias can a benchmark show, and how many questions would it need?
"use strict";

(() => {
  const { line, dot, text, percentages, calculator } = drawing;
  const [HEIGHT, LEFT] = [230, 50];
  const SIMULATED = 60; // clusters; up to here fairlib simulates
  const grouped = (value) => value.toLocaleString("en", { maximumFractionDigits: 0 });
  const points = (bias) => (Number.isNaN(bias) ? "no bias at all" : `${(100 * bias).toFixed(1)} points`);

  function picture(width, curve, marked) {
    const most = Math.log10(curve.at(-1)[0]);
    const least = Math.log10(curve[0][0]);
    const right = width - 16;
    const x = (n) => LEFT + ((Math.log10(n) - least) / (most - least)) * (right - LEFT);
    const y = (bias) => HEIGHT - 40 - Math.min(bias, 0.6) * ((HEIGHT - 60) / 0.6);
    const visible = curve.filter(([, bias]) => bias <= 0.6);
    const path = visible.map(([n, bias]) => `${x(n)},${y(bias)}`).join("L");
    const grid = [0, 0.2, 0.4, 0.6].flatMap((bias) =>
      [line(LEFT, y(bias), right, y(bias), "calculator-grid"), text(LEFT - 6, y(bias) + 4, String(100 * bias), "end")]);
    const sizes = [curve[0][0], curve.at(-1)[0]].map((n, end) => text(x(n), HEIGHT - 22, grouped(n), end ? "end" : "start"));
    const parts = visible.length ? [drawing.make("path", { d: `M${path}`, class: "calculator-curve" })] : [];
    const [n, bias] = marked;
    const here = bias <= 0.6 ? [dot(x(n), y(bias), "calculator-marked", 6)] : [];
    return [...grid, ...sizes, text(LEFT, 12, "smallest bias, in points"), ...parts, ...here,
      text((LEFT + right) / 2, HEIGHT - 4, "questions or pairs", "middle")];
  }

  function answer(values) {
    const [n, clusters] = [Number(values.n), Number(values.clusters)];
    const target = Number(values.target) / 100;
    const isPossible = Number.isInteger(n) && n >= 2 && Number.isInteger(clusters) && clusters >= 0 && clusters <= n
      && target > 0 && target < 1;
    if (!isPossible) {
      const words = "Please give whole numbers: at least 2 questions or pairs, and no more clusters than these.";
      return { words, alt: words, height: 0, picture: () => [] };
    }

    const paired = values.paired === "pairs";
    const size = clusters ? n / clusters : 1;
    const designEffect = Math.min(Math.max(Number(values.designEffect) || 1, 1), size);
    const rate = Number(values.rate);
    const options = {
      paired, clusters, designEffect, error: rate, discordant: rate, gamma: Number(values.gamma),
      power: Number(values.power), confidence: Number(values.confidence),
    };
    const bias = design.smallestBias({ ...options, n });
    const number = design.needed(target, options, size);
    const unit = paired ? "pairs" : "questions";
    const goal = `${(100 * target).toFixed(1)} points`;
    const need = Number.isNaN(number) ? `No number of ${unit} that we tried would show a bias of ${goal}.`
      : clusters ? `To show a bias of ${goal}, you need ${grouped(number)} clusters of this size: `
        + `${grouped(Math.ceil(number * size))} ${unit}.`
        : `To show a bias of ${goal}, you need ${grouped(number)} ${unit}.`;
    const capped = clusters && Number(values.designEffect) > size
      ? ` The design effect cannot exceed the size of a cluster, here ${size.toFixed(1)}, so that is used.` : "";
    const few = clusters && clusters <= SIMULATED
      ? " With 60 clusters or fewer, this formula promises too much. In Python, fairlib.benchmark simulates such designs." : "";
    const often = `in ${Math.round(100 * options.power)} % of samples`;
    const smallest = Number.isNaN(bias) ? `No bias is shown ${often}.`
      : `A bias of ${points(bias)} is shown ${often}; smaller ones are shown less often.`;
    const words = `${smallest} ${need}${capped}${few}`;

    const factors = Array.from({ length: 17 }, (_, step) => 10 ** (-1 + step / 8));
    const curve = factors.map((factor) => {
      const scaled = clusters ? Math.max(Math.round(clusters * factor), 1) * size : Math.max(n * factor, 2);
      return [scaled, design.smallestBias({ ...options, n: scaled, clusters: clusters && Math.round(scaled / size) })];
    });
    const alt = `A falling curve: smallest bias by the number of ${unit}. Marked: ${points(bias)} at ${grouped(n)}.`;
    const labels = {
      n: paired ? "Pairs" : "Questions, both groups together",
      rate: paired ? "Share of pairs whose answers differ" : "Lower of the two rates",
    };
    return { words, alt, height: HEIGHT, picture: (width) => picture(width, curve, [n, bias]), labels };
  }

  const count = (name, label, min, value) => ({ name, label, type: "number", min, max: 1e7, step: 1, value });
  const slider = (name, label, min, max, step, value) =>
    ({ name, label, min, max, step, value, shown: (chosen) => chosen.toFixed(2) });
  const kinds = [["groups", "two groups"], ["pairs", "within pairs"]];
  calculator("benchmark-calculator", [
    { name: "paired", label: "Compared", options: kinds, value: "groups" },
    count("n", "Questions, both groups together", 2, 3168),
    slider("gamma", "Share of the smaller group", 0.05, 0.5, 0.05, 0.5),
    slider("rate", "Lower of the two rates", 0.05, 0.5, 0.05, 0.2),
    count("clusters", "Clusters, such as templates (0: independent)", 0, 100),
    { name: "designEffect", label: "Design effect", type: "number", min: 1, max: 1e6, step: 0.1, value: 5 },
    { name: "target", label: "Bias to be shown, in points", type: "number", min: 0.1, max: 99, step: 0.1, value: 5 },
    { name: "power", label: "Power", options: percentages([0.5, 0.8, 0.9]), value: 0.8 },
    { name: "confidence", label: "Confidence", options: percentages([0.8, 0.9, 0.95, 0.99]), value: 0.95 },
  ], answer);
})();
