// Two repairs for readers without a mouse or a picture of the page, and one for those who print it.
(() => {
  // What is wider than the page scrolls inside; the keyboard must reach it.
  const reach = () => {
    for (const box of document.querySelectorAll(".wide, .cell_output, .cell_output > .output, .pst-scrollable-table-container, mjx-container, pre")) {
      const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (scrolls && getComputedStyle(box).overflowX !== "visible") box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("load", reach);
  // The theme measures before the fonts have come, which make some lines wider.
  document.fonts.ready.then(reach);
  addEventListener("resize", reach);
  // Paper is white: what is read in the dark is printed in the colours of the day.
  const page = document.documentElement;
  let theme;
  addEventListener("beforeprint", () => { theme = page.dataset.theme; page.dataset.theme = "light"; });
  addEventListener("afterprint", () => { page.dataset.theme = theme; });
  // These are called by a label that hides the words on them.
  for (const one of document.querySelectorAll("button.search-button-field, details.hide > summary")) one.removeAttribute("aria-label");
})();
