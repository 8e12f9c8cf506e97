// The ledger's table.
(() => {
  // A chosen paper leaves only its own experiments to choose from.
  const experimentsOfThePaper = ({ experiment, paper }) => {
    for (const option of experiment.options) {
      option.hidden = option.disabled = Boolean(paper.value && option.value && option.dataset.paper !== paper.value);
      if (option.disabled && option.selected) experiment.value = "";
    }
  };

  const table = document.getElementById("ledger-table");
  const form = document.getElementById("ledger-filters");
  tables.sortable(table);
  tables.searchable(table, form, { fields: ["paper", "experiment", "status"], noun: "numbers", before: experimentsOfThePaper });
})();
