// The numbers behind "Catch the table"; tests/test_play.py compares them with fairlib's, in node.
"use strict";

const combs = (() => {
  const RUNS = 5;

  /**
   * Which whole numbers, divided by runs times images, are printed as `last` hundredths of a per cent:
   * fairlib.recipes.printed_tables.totals. None if the first exceeds the second.
   */
  function totals(last, images) {
    const cases = RUNS * images;
    const steps = 2 * 100 * 100;
    return [Math.ceil(((2 * last - 1) * cases) / steps), Math.floor(((2 * last + 1) * cases) / steps)];
  }

  /** Whether a printed number is possible as a mean over these images; any number is where they are not counted. */
  function locks(last, images) {
    if (images === null) return false;
    const [smallest, largest] = totals(last, images);
    return smallest <= largest;
  }

  /** How many of a row's three numbers lock beside each object: rows x objects. */
  const table = (rows, images) => rows.map((row) => images.map((count) => row.filter((last) => locks(last, count)).length));

  /** How many cells lock if row k stands beside object order[k]. */
  const locked = (possible, order) => order.reduce((sum, object, row) => sum + possible[row][object], 0);

  return { totals, locks, table, locked };
})();

if (typeof module !== "undefined") module.exports = combs;
