// What the calculators share: controls with labels, an answer that is read out, a picture that fits its place.
"use strict";

const drawing = (() => {
  const SHAPES = ["svg", "line", "circle", "rect", "path", "text"];

  /** An element with attributes and children. */
  function make(name, attributes = {}, ...children) {
    const space = SHAPES.includes(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
    const node = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  const line = (x1, y1, x2, y2, kind) => make("line", { x1, y1, x2, y2, class: kind });
  const dot = (cx, cy, kind, r = 5) => make("circle", { cx, cy, r, class: kind });
  const text = (x, y, words, anchor = "start") => make("text", { x, y, "text-anchor": anchor }, words);
  const signed = (value, digits = 3) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
  const percentages = (levels) => levels.map((level) => [level, `${100 * level} %`]);

  /** One control inside its label: a slider that shows its value, a number to type, or a choice. */
  function control({ name, label, options, shown = String, ...attributes }) {
    const choices = (options || []).map(([value, words]) => make("option", { value }, words));
    const select = options && make("select", { name }, ...choices);
    const field = select || make("input", { name, type: "range", ...attributes });
    if (options) field.value = attributes.value;
    const value = make("b");
    const show = () => { value.textContent = field.type === "range" ? shown(Number(field.value)) : ""; };
    field.addEventListener("input", show);
    show();
    return make("label", {}, make("span", {}, make("span", {}, label), " ", value), field);
  }

  /**
   * Put a calculator into the element with this id: controls, an answer in words, a picture.
   *
   * answer: maps the controls' values to { words, alt, height, picture, labels }: picture(width) returns the shapes,
   * labels are those that depend on other controls.
   */
  function calculator(id, controls, answer) {
    const place = document.getElementById(id);
    if (!place) return;
    const form = make("form", { class: "calculator-controls" }, ...controls.map(control));
    const said = make("p", { class: "calculator-answer", "aria-live": "polite" });
    const svg = make("svg", { role: "img" });
    place.replaceChildren(form, said, svg);
    const draw = () => {
      const { words, alt, height, picture, labels = {} } = answer(Object.fromEntries(new FormData(form)));
      const width = Math.max(place.clientWidth, 280);
      for (const [name, label] of Object.entries(labels)) {
        form[name].labels[0].querySelector("span > span").textContent = label;
      }
      if (said.textContent !== words) said.textContent = words; // what has not changed is not read out again
      for (const [key, value] of Object.entries({ "aria-label": alt, width, height })) svg.setAttribute(key, value);
      svg.replaceChildren(...picture(width));
    };
    form.addEventListener("input", draw);
    form.addEventListener("submit", (event) => event.preventDefault());
    new ResizeObserver(draw).observe(place);
  }

  return { make, line, dot, text, signed, percentages, control, calculator };
})();
