// The table of benchmarks.
(() => {
  const table = document.getElementById("benchmark-table");
  tables.sortable(table);
  tables.searchable(table, document.getElementById("benchmark-filters"), { fields: ["status", "pairs"], noun: "benchmarks" });
})();
