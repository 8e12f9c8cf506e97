// How wide is the interval for a difference of two error rates?
"use strict";

(() => {
  const { line, dot, text, signed, percentages, calculator } = drawing;
  const ROW = 42;
  const NAMES = {
    bernstein_maximal: "Bernstein, as in the paper",
    hoeffding: "Hoeffding",
    empirical_bernstein: "empirical Bernstein",
    miettinen_nurminen: "Miettinen-Nurminen",
    newcombe: "Newcombe",
  };
  const always = (name) => !["miettinen_nurminen", "newcombe"].includes(name); // holds for any number of examples
  const listed = (names, kind) => (names.length === 0 ? `None of the ${kind} excludes 0.`
    : `Of the ${kind}, ${names.map((name) => NAMES[name]).join(" and ")} exclude${names.length === 1 ? "s" : ""} 0.`);

  function picture(width, found, difference) {
    const ends = [0, ...Object.values(found).flat()];
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const x = (value) => 14 + ((value - low) / (high - low)) * (width - 28);
    const bottom = ROW * Object.keys(found).length + 6;
    const rows = Object.entries(found).flatMap(([name, [from, to]], row) => {
      const [y, kind] = [ROW * row + 32, always(name) ? "calculator-always" : "calculator-large"];
      const zero = line(x(0), y - 8, x(0), y + 10, "calculator-rule");
      const words = text(14, y - 12, `${NAMES[name]}: ${signed(from)} to ${signed(to)}`);
      const parts = [line(x(from), y, x(to), y, kind), dot(x(from), y, kind, 4), dot(x(to), y, kind, 4)];
      return [words, zero, ...parts, dot(x(difference), y, "calculator-marked", 4)];
    });
    const written = [[low, "start"], [high, "end"]].filter(([value]) => Math.abs(x(value) - x(0)) > 60);
    const axis = written.map(([value, anchor]) => text(x(value), bottom + 18, signed(value, 2), anchor));
    return [text(x(0), bottom + 18, "0", "middle"), ...axis, ...rows];
  }

  function answer(values) {
    const counts = ["xA", "nA", "xB", "nB"].map((name) => (values[name] === "" ? NaN : Number(values[name])));
    const [xA, nA, xB, nB] = counts;
    const possible = counts.every(Number.isInteger) && Math.min(nA, nB) >= 2 && Math.min(xA, xB) >= 0;
    if (!possible || xA > nA || xB > nB) {
      const words = "Please give whole numbers: at least 2 examples in each group, and no more errors than examples.";
      return { words, alt: words, height: 0, picture: () => [] };
    }
    const alpha = 1 - Number(values.confidence);
    const methods = Object.entries(numbers.METHODS);
    const found = Object.fromEntries(methods.map(([name, method]) => [name, method(...counts, alpha)]));
    const difference = xA / nA - xB / nB;
    const off = Object.keys(found).filter((name) => found[name][0] > 0 || found[name][1] < 0);
    const decided = off.length === 0 ? "All intervals below contain 0."
      : `${listed(off.filter(always), "other intervals with a guarantee for any sample size")} ${listed(off.filter((name) => !always(name)), "intervals that need large groups")}`;
    const side = exact.side(...counts, alpha);
    const verdicts = { above: "excludes 0: group A has more errors", below: "excludes 0: group B has more errors", no: "contains 0" };
    const byDefault = side === null ? "The groups are too large for a page to decide whether the exact interval excludes 0; use fairlib.disparity_interval in Python."
      : `The exact interval, which is fairlib's default, ${verdicts[side]}.`;
    const words = `Group A has ${xA} errors in ${nA} examples, and group B has ${xB} in ${nB}: a difference of `
        + `${signed(100 * difference, 1)} points. ${byDefault} ${decided}`;
    const alt = Object.entries(found).map(([name, [from, to]]) => `${NAMES[name]} ${signed(from)} to ${signed(to)}`);
    const height = ROW * methods.length + 32;
    return { words, alt: alt.join("; "), height, picture: (width) => picture(width, found, difference) };
  }

  const count = (name, label, min, value) => ({ name, label, type: "number", min, max: 1e7, step: 1, value });
  calculator("width-calculator", [
    count("nA", "Examples of group A", 2, 250),
    count("xA", "Errors in group A", 0, 75),
    count("nB", "Examples of group B", 2, 250),
    count("xB", "Errors in group B", 0, 50),
    { name: "confidence", label: "Confidence", options: percentages([0.8, 0.9, 0.95, 0.99]), value: 0.95 },
  ], answer);
})();
