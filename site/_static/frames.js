// A notebook's widget at the settings that were computed: its controls choose a picture, or a table, among them.
for (const form of document.querySelectorAll("form.frames")) {
  const { caption, options, pictures, narrow, said, tables } = JSON.parse(form.querySelector("script").textContent);
  const figure = form.parentNode;
  const [image, phone, link, place, result] = ["img", "source", "a", ".chosen", "output"].map((one) => figure.querySelector(one));
  const [first, later] = figure.querySelectorAll("figcaption span.words");
  const fields = [...form.querySelectorAll("input, select")];
  const chosen = () => fields.map((field) => field.value).join("-");
  const start = chosen();

  const show = () => {
    const key = chosen();
    const setting = fields.map((field, place) => {
      const [label, value] = field.labels[0].querySelectorAll("span > span, b");
      const words = options[place][field.value];
      if (field.type === "range") field.setAttribute("aria-valuetext", (value.textContent = words));
      return `${label.textContent} ${words}`;
    }).join("; ");
    if (tables) {
      place.innerHTML = tables[key];
      figure.querySelector("figcaption").textContent = caption;
      dispatchEvent(new Event("resize")); // what is wider than the page is found anew
      return;
    }
    result.textContent = said[key];
    first.hidden = key !== start; // the notebook's own caption is of the first setting
    later.hidden = key === start;
    later.textContent = `${setting}. ${caption}`;
    if (key === start && !image.dataset.moved) return;
    image.dataset.moved = true;
    image.src = link.href = `${pictures}/${key}.svg`;
    if (phone) phone.srcset = `${pictures}/${key}${narrow}.svg`;
    image.alt = `${setting}: ${said[key]}`;
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show();
}
