// In which order the search lists what it finds: lessons, then other pages and dossiers, and the names of the package last.
// Who types a name of the package, such as disparity_interval, gets its documentation first.
Scorer.score = ([page, , , , score, , kind]) => {
  if (kind === "object" || page === "api") {
    const isName = /\w[._]\w/.test(new URLSearchParams(location.search).get("q"));
    return score + (isName ? 60 : 0);
  }
  if (page === "CONTRIBUTING") return score;
  if (page.startsWith("notebooks/dossier/")) return score + 10;
  return score + (page.startsWith("notebooks/") ? 40 : 20);
};
