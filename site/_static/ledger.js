// The ledger's table: sorted by a click on a heading, numbers as numbers, and filtered. The address keeps the filter.
(() => {
  const table = document.getElementById("ledger-table");
  const form = document.getElementById("ledger-filters");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const said = form.querySelector("output");

  const numberIn = (text) => {
    const found = text.replace(/,(?=\d{3})/g, "").replace("−", "-").match(/^\[?(-?\d*\.?\d+(e-?\d+)?)/i);
    return found ? Number(found[1]) : null;
  };
  const compare = (a, b) => {
    const [x, y] = [numberIn(a), numberIn(b)];
    if (x !== null && y !== null) return x - y;
    if (x !== null || y !== null) return x !== null ? -1 : 1;
    return a.localeCompare(b);
  };

  const sort = (column, heading) => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => row.cells[column].textContent.trim();
    const numbered = rows.map((row, place) => [key(row), place, row]);
    numbered.sort(([a, i], [b, j]) => (!a - !b) || (down ? -1 : 1) * compare(a, b) || i - j); // what is empty stays last
    body.append(...numbered.map(([, , row]) => row));
  };
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(column, heading));
    heading.append(button);
  });

  const FIELDS = ["paper", "experiment", "status", "words"];
  const texts = rows.map((row) => row.textContent.toLowerCase());

  const filter = () => {
    const { experiment, paper } = form.elements;
    for (const option of experiment.options) {
      option.hidden = option.disabled = Boolean(paper.value && option.value && option.dataset.paper !== paper.value);
      if (option.disabled && option.selected) experiment.value = "";
    }
    const wanted = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
    const words = wanted.words.toLowerCase().split(/\s+/);
    let shown = 0;
    rows.forEach((row, place) => {
      const isOther = FIELDS.slice(0, 3).some((name) => wanted[name] && row.dataset[name] !== wanted[name]);
      row.hidden = isOther || !words.every((word) => texts[place].includes(word));
      shown += !row.hidden;
    });
    said.textContent = `${shown} of ${rows.length} numbers`;
    const chosen = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
    history.replaceState(null, "", `${location.pathname}${chosen ? `?${chosen}` : ""}${location.hash}`);
  };
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (FIELDS.includes(name)) form.elements[name].value = value;
  }
  form.addEventListener("change", filter);
  form.elements.words.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
