// Whether the exact interval of fairlib (its default) excludes 0; tests/test_calculators.py compares the two, in node.
"use strict";

const exact = (() => {
  const { METHODS } = typeof module !== "undefined" ? require("./numbers.js") : numbers;
  const MOST = 2000; // examples of a group; more take too long in a page
  const APART = 1e-3; // the share of alpha for the event that a rate lies outside its limits
  const RATES = 400; // common rates that are examined
  const TIE = 1e-12;

  /** Logarithms of factorials, up to n. */
  function logFactorials(n) {
    const logs = [0];
    for (let k = 1; k <= n; k += 1) logs.push(logs[k - 1] + Math.log(k));
    return logs;
  }

  /** The probabilities of 0 to n errors at this rate. */
  function chances(n, rate, logs) {
    return Array.from({ length: n + 1 }, (_, x) =>
      Math.exp(logs[n] - logs[x] - logs[n - x] + x * Math.log(rate) + (n - x) * Math.log1p(-rate)));
  }

  /** Clopper and Pearson's limits of one rate, each of which misses it with probability `tail`. */
  function limits(x, n, tail, logs) {
    const below = (rate, most) => chances(n, rate, logs).slice(0, most + 1).reduce((sum, chance) => sum + chance, 0);
    const search = (isTooLow) => {
      let [low, high] = [0, 1];
      for (let step = 0; step < 40; step += 1) {
        const middle = (low + high) / 2;
        if (isTooLow(middle)) low = middle;
        else high = middle;
      }
      return (low + high) / 2;
    };
    const low = x === 0 ? 0 : search((rate) => 1 - below(rate, x - 1) < tail);
    const high = x === n ? 1 : search((rate) => below(rate, x) > tail);
    return [low, high];
  }

  /** For each count of A, the largest count of B whose table is as extreme; -1 if there is none. */
  function region(level, nA, nB, alpha) {
    let most = -1;
    return Array.from({ length: nA + 1 }, (_, xA) => {
      while (most < nB && METHODS.newcombe(xA, nA, most + 1, nB, alpha)[0] >= level - TIE) most += 1;
      return most;
    });
  }

  /** Whether the low end of the exact interval for A minus B lies above 0. */
  function isAboveZero(xA, nA, xB, nB, alpha) {
    if (xA / nA <= xB / nB) return false;
    const logs = logFactorials(Math.max(nA, nB));
    const level = METHODS.newcombe(xA, nA, xB, nB, alpha)[0];
    if (METHODS.newcombe(0, nA, nB, nB, alpha)[0] >= level - TIE) return false;
    const most = region(level, nA, nB, alpha);
    const nearA = limits(xA, nA, (APART * alpha) / 4, logs);
    const nearB = limits(xB, nB, (APART * alpha) / 4, logs);
    const ends = [Math.max(nearA[0], nearB[0]), Math.min(nearA[1], nearB[1])].sort((one, other) => one - other);
    const angles = ends.map((rate) => 2 * Math.asin(Math.sqrt(rate)));
    for (let step = 0; step <= RATES; step += 1) {
      const angle = angles[0] + (step / RATES) * (angles[1] - angles[0]);
      const rate = Math.min(Math.max(Math.sin(angle / 2) ** 2, 1e-12), 1 - 1e-12);
      const upTo = [0];
      for (const chance of chances(nB, rate, logs)) upTo.push(upTo[upTo.length - 1] + chance);
      const probability = chances(nA, rate, logs).reduce((sum, chance, x) => sum + chance * upTo[most[x] + 1], 0);
      if (probability > alpha * (0.5 - APART)) return false;
    }
    return true;
  }

  /** "above", "below" or "no": on which side of 0 the exact interval lies; null if it is too slow here. */
  function side(xA, nA, xB, nB, alpha) {
    if (Math.max(nA, nB) > MOST) return null;
    if (isAboveZero(xA, nA, xB, nB, alpha)) return "above";
    return isAboveZero(xB, nB, xA, nA, alpha) ? "below" : "no";
  }

  return { side };
})();

if (typeof module !== "undefined") module.exports = exact;
