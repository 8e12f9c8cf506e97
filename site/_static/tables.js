// Tables that are sorted by a click on a heading (numbers as numbers) and searched. The address keeps the search.
const tables = (() => {
  const numberIn = (text) => {
    const match = text.replace(/,(?=\d{3})/g, "").replace("−", "-").match(/^\[?(-?\d*\.?\d+(e-?\d+)?)/i);
    return match ? Number(match[1]) : null;
  };
  // Numbers come before words.
  const compare = (a, b) => {
    const [x, y] = [numberIn(a), numberIn(b)];
    if (x !== null && y !== null) return x - y;
    if (x !== null || y !== null) return x !== null ? -1 : 1;
    return a.localeCompare(b);
  };

  const sortable = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const sort = (column, heading) => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = rows.map((row, place) => [row.cells[column].textContent.trim(), place, row]);
      // What is empty stays last.
      keyed.sort(([a, i], [b, j]) => (!a - !b) || (down ? -1 : 1) * compare(a, b) || i - j);
      body.append(...keyed.map(([, , row]) => row));
    };
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(column, heading));
      heading.append(button);
    });
  };

  // Rows stay if their data equal the chosen fields and their text has all words of the field "words".
  const searchable = (table, form, { fields, noun, before = () => {} }) => {
    const rows = [...table.tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const names = [...fields, "words"];
    const filter = () => {
      before(form.elements);
      const wanted = Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
      const words = wanted.words.toLowerCase().split(/\s+/);
      rows.forEach((row, place) => {
        const isOther = fields.some((name) => wanted[name] && row.dataset[name] !== wanted[name]);
        row.hidden = isOther || !words.every((word) => texts[place].includes(word));
      });
      form.querySelector("output").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} ${noun}`;
      const chosen = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
      history.replaceState(null, "", `${location.pathname}${chosen ? `?${chosen}` : ""}${location.hash}`);
    };
    for (const [name, value] of new URLSearchParams(location.search)) {
      if (names.includes(name)) form.elements[name].value = value;
    }
    form.addEventListener("change", filter);
    form.elements.words.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    filter();
  };

  return { sortable, searchable };
})();
