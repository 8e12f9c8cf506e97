// Does the model amplify what the data associate?
"use strict";

(() => {
  const { make, line, dot, text, signed, calculator } = drawing;
  const verdict = (value) => (Math.abs(value) < 5e-4 ? "no amplification" : value > 0 ? "amplified" : "reduced");
  // What the model may get wrong: what is asked of whom, the names of rows and sliders, the measure that sees it.
  const ERRORS = {
    seen: {
      title: "Who paints: truth (ring), model (dot)",
      rows: ["women", "men"],
      labels: { first: "Women whom the model sees painting", second: "Men whom the model sees painting" },
      measure: "A->T",
      meaning: "A→T (who you are changes what you are seen doing)",
    },
    taken: {
      title: "Who is a woman: truth (ring), model (dot)",
      rows: ["painters", "others"],
      labels: { first: "Painters whom the model takes for women", second: "Others whom the model takes for women" },
      measure: "T->A",
      meaning: "T→A (what you do changes who you are taken for)",
    },
  };

  function picture(width, { title, rows }, truth, found, measures) {
    const x = (share) => 70 + share * (width - 120);
    const bar = (value) => width / 2 + Math.max(-1, Math.min(1, 2 * value)) * (width / 2 - 70); // 1/2 fills its side
    const shares = rows.flatMap((name, row) => {
      const [y, from, to] = [42 + 30 * row, x(truth[row]), x(found[row])];
      const lines = [line(x(0), y, x(1), y, "calculator-grid"), line(from, y, to, y, "calculator-always")];
      const words = [text(0, y + 4, name), text(width, y + 4, `${Math.round(100 * found[row])} %`, "end")];
      return [...words, ...lines, dot(from, y, "calculator-true", 6), dot(to, y, "calculator-marked", 5)];
    });
    const bars = Object.entries(measures).flatMap(([name, value], row) => {
      const [y, from, to] = [128 + 30 * row, bar(0), bar(value || 0)];
      const box = { x: Math.min(from, to), y: y - 9, width: Math.abs(to - from), height: 18 };
      const words = text(width, y + 4, Number.isNaN(value) ? "undefined" : signed(value), "end");
      const kind = value < 0 ? "calculator-minus" : "calculator-plus";
      return [text(0, y + 4, name.replace("->", "→")), make("rect", { ...box, class: kind }), words];
    });
    const under = text(bar(0), 218, "− reduced · amplified +", "middle");
    return [text(0, 16, title), ...shares, ...bars, line(bar(0), 112, bar(0), 200, "calculator-rule"), under];
  }

  function answer(values) {
    const people = (...names) => names.map((name) => Number(values[name]));
    const [women, men] = [people("womenDo", "womenDont"), people("menDo", "menDont")];
    const found = people("first", "second").map((percent) => percent / 100);
    const error = ERRORS[values.errs];
    const measures = numbers.amplification({ women, men, [values.errs]: found });
    const pairs = values.errs === "seen" ? [women, men] : women.map((n, task) => [n, men[task]]);
    const truth = pairs.map(([a, b]) => a / (a + b));
    const lean = Math.sign(women[0] * men[1] - women[1] * men[0]);
    const mals = Number.isNaN(measures.MALS) ? "MALS is undefined, since nobody is seen painting"
      : `MALS says ${signed(measures.MALS)}: ${verdict(measures.MALS)}`;
    const directed = measures[error.measure];
    const leant = ["men", "neither group", "women"][lean + 1];
    const gap = ([first, second]) => Math.sign(Math.round(1000 * (first - second)));
    const isReversed = gap(truth) * gap(found) < 0;
    const meant = isReversed ? "the association is reversed" : verdict(directed);
    const words = `The data associate painting with ${leant}. ${error.meaning} is `
        + `${signed(directed)}: ${meant}. ${mals}.`;
    const shares = error.rows.map((name, row) => `${name} ${truth[row].toFixed(2)}, ${found[row].toFixed(2)}`);
    const drawn = (width) => picture(width, error, truth, found, measures);
    return { words, alt: `${error.title}: ${shares.join("; ")}.`, height: 226, labels: error.labels, picture: drawn };
  }

  const people = (name, label, value) => ({ name, label, min: 1, max: 60, step: 1, value });
  const shown = (percent) => `${percent}\u00a0%`;
  const share = (name, value) => ({ name, label: "", min: 0, max: 100, step: 1, value, shown });
  const errors = [["seen", "what people do (groups are right)"], ["taken", "who people are (tasks are right)"]];
  calculator("painting-calculator", [
    people("womenDo", "Women who paint", 30),
    people("womenDont", "Women who do not", 10),
    people("menDo", "Men who paint", 10),
    people("menDont", "Men who do not", 30),
    share("first", 90),
    share("second", 25),
    { name: "errs", label: "The model errs in", options: errors, value: "seen" },
  ], answer);
})();
