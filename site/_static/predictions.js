// What follows a prediction in its section is shown once the reader has predicted. Without JavaScript, and in print, all is shown.
for (const box of document.querySelectorAll(".admonition.predict")) {
  const answer = [];
  let next = box.nextElementSibling;
  while (next && !next.matches("section, .predict")) {
    answer.push(next);
    next = next.nextElementSibling;
  }
  if (!answer.length) continue;

  const form = document.createElement("form");
  form.className = "prediction";
  form.autocomplete = "off";
  form.innerHTML = '<label>Your prediction<textarea rows="2"></textarea></label><button type="submit">Show what follows</button>';
  box.append(form);
  for (const element of answer) element.classList.add("unseen");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    for (const element of answer) element.classList.remove("unseen");
    form.querySelector("button").hidden = true;
    dispatchEvent(new Event("resize")); // what is wider than the page is found anew
  });
}
