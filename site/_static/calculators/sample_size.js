// Notebook 02: how many examples does a claim need?
"use strict";

(() => {
  const { make, line, dot, text, percentages, calculator } = drawing;
  const WINOBIAS = 3160;
  const [LOWEST, HIGHEST, HEIGHT, LEFT] = [0.01, 0.3, 260, 82]; // biases; in pixels, room for numbers to the left
  const grouped = (value) => value.toLocaleString("en");

  function picture(width, bias, options) {
    const right = width - 16;
    const x = (value) => LEFT + ((value - LOWEST) / (HIGHEST - LOWEST)) * (right - LEFT);
    const y = (n) => HEIGHT - 40 - ((Math.log10(n) - 1) / 6) * (HEIGHT - 56); // 10 to 10 million
    const biases = Array.from({ length: 146 }, (_, step) => LOWEST + 0.002 * step);
    const curve = biases.map((value) => `${x(value)},${y(numbers.sampleSize(value, options))}`);
    const lines = [10, 1000, 100000, 1e7].map((n) => line(LEFT, y(n), right, y(n), "calculator-grid"));
    const sizes = [10, 1000, 100000].map((n) => text(LEFT - 6, y(n) + 4, grouped(n), "end"));
    const below = [0.05, 0.1, 0.2, 0.3].map((value) => text(x(value), HEIGHT - 22, String(value), "middle"));
    return [
      ...lines, ...sizes, ...below,
      text(LEFT - 6, y(1e7) + 4, "10 million", "end"),
      text((LEFT + right) / 2, HEIGHT - 4, "observed bias", "middle"),
      line(LEFT, y(WINOBIAS), right, y(WINOBIAS), "calculator-rule"),
      text(right, y(WINOBIAS) - 5, "WinoBias: 3,160", "end"),
      make("path", { d: `M${curve.join("L")}`, class: "calculator-curve" }),
      dot(x(bias), y(numbers.sampleSize(bias, options)), "calculator-marked", 6),
    ];
  }

  function answer(values) {
    const bias = Number(values.bias);
    const options = { bound: values.bound, gamma: Number(values.gamma), confidence: Number(values.confidence) };
    const n = numbers.sampleSize(bias, options);
    const times = (n / WINOBIAS).toFixed(1);
    const enough = n <= WINOBIAS ? "which suffices" : `and would have to be ${times} times as large`;
    const words = `You need ${grouped(n)} annotated examples before an observed bias of ${bias.toFixed(3)} supports `
        + `the claim “this system is biased”. WinoBias has 3,160, ${enough}; with these, a bias above `
        + `${numbers.smallestBias(WINOBIAS, options).toFixed(4)} supports the claim.`;
    const alt = `A falling curve: examples needed by observed bias. Marked: ${grouped(n)} at ${bias.toFixed(3)}.`;
    return { words, alt, height: HEIGHT, picture: (width) => picture(width, bias, options) };
  }

  const slider = (name, label, min, max, step, value, digits) =>
    ({ name, label, min, max, step, value, shown: (chosen) => chosen.toFixed(digits) });
  const bounds = [["paper", "Bernstein, as in the paper"], ["centred", "Bernstein, cost centred"],
    ["hoeffding", "Hoeffding, two groups"]];
  const levels = percentages([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]);
  calculator("sample-size-calculator", [
    slider("bias", "Observed bias", LOWEST, HIGHEST, 0.005, 0.05, 3),
    slider("gamma", "Share of the smaller group", 0.05, 0.5, 0.05, 0.5, 2),
    { name: "confidence", label: "Confidence", options: levels, value: 0.95 },
    { name: "bound", label: "Bound", options: bounds, value: "paper" },
  ], answer);
})();
