// The switchboard of the ledger: a reader makes a choice that the paper does not print, and sees what becomes of the verdict.
(() => {
  const place = document.getElementById("ledger-choices");
  const questions = JSON.parse(document.getElementById("ledger-choices-data").textContent);
  const make = (name, words = "", attributes = {}) => {
    const node = document.createElement(name);
    node.textContent = words;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const number = (value) => Number(value).toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−");

  for (const { claim, question, source, status, choices } of questions) {
    const form = make("form", "", { class: "choices" });
    const label = make("label", `${source}: ${question} `);
    const select = make("select");
    choices.forEach(({ choice }, index) => select.append(make("option", choice, { value: index })));
    label.append(select);
    const holding = choices.filter(({ holds }) => holds).length;
    const answer = make("p", "", { "aria-live": "polite" });
    const show = () => {
      const { value, low, high, holds } = choices[select.value];
      const range = low === null ? "" : ` [${number(low)}, ${number(high)}]`;
      const all = holding === choices.length || holding === 0 ? "Every choice gives the same answer" : `It holds with ${holding} of ${choices.length} choices`;
      answer.replaceChildren(
        make("b", holds ? "Holds. " : "Does not hold. "),
        `The value is ${number(value)}${range}. ${all}; the ledger calls it `,
        make("a", status, { href: `#${claim.replaceAll("/", "-")}` }),
        ".",
      );
    };
    select.addEventListener("change", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.append(label, answer);
    place.append(form);
    show();
  }
})();
