// The numbers behind the calculators, by fairlib's formulas; tests/test_calculators.py compares them, in node.
"use strict";

const numbers = (() => {
  /** Bernstein's half-width for n examples (Ethayarajh 2020, eq. 3): fairlib.bernstein.half_width. */
  function halfWidth(n, { variance, gamma, maxCost, confidence }) {
    const log = -Math.log((1 - confidence) / 2);
    const b = ((2 * maxCost) / (3 * gamma)) * log;
    return (b + Math.sqrt(b ** 2 + 8 * n * variance * log)) / (2 * n);
  }

  /** What eq. 4 is given, with costs of 0 and 1 as in the paper, or "centred": 1/2 taken off every cost. */
  function setting({ bound, gamma, confidence }) {
    if (bound === "centred") return { variance: 1 / (4 * gamma * (1 - gamma)), gamma, maxCost: 0.5, confidence };
    return { variance: (1 / gamma) ** 2, gamma, maxCost: 1, confidence };
  }

  /** The bias that n examples can just not show, by Bernstein or by "hoeffding" for two groups. */
  function smallestBias(n, options) {
    const { bound, gamma, confidence } = options;
    if (bound !== "hoeffding") return halfWidth(n, setting(options));
    return Math.sqrt(Math.log(2 / (1 - confidence)) / (2 * gamma * (1 - gamma) * n));
  }

  /** The smallest n with which an observed bias supports a claim (eq. 4): fairlib.bernstein.sample_size. */
  function sampleSize(bias, options) {
    const { variance, gamma, maxCost, confidence } = setting(options);
    const log = -Math.log((1 - confidence) / 2);
    const bernstein = ((2 * variance + ((2 * maxCost) / (3 * gamma)) * bias) * log) / bias ** 2;
    const hoeffding = log / (2 * gamma * (1 - gamma) * bias ** 2);
    let n = Math.max(Math.floor(options.bound === "hoeffding" ? hoeffding : bernstein), 1);
    for (let step = 0; step < 2; step += 1) {
      // Where the formula gives an integer but for rounding errors, its inverse decides on which side of it n lies.
      if (smallestBias(n, options) >= bias) n += 1;
    }
    return n;
  }

  /** The standard normal density, and distribution by its series. */
  const density = (z) => Math.exp(-(z ** 2) / 2) / Math.sqrt(2 * Math.PI);
  function distribution(z) {
    let term = z;
    let sum = 0;
    for (let k = 1; Math.abs(term) > 1e-18; k += 1) {
      sum += term;
      term *= z ** 2 / (2 * k + 1);
    }
    return 0.5 + density(z) * sum;
  }

  /** z with probability alpha / 2 above it; Newton's method comes from below, since the distribution is concave. */
  function critical(alpha) {
    let z = 0;
    for (let step = 0; step < 60; step += 1) z += (1 - alpha / 2 - distribution(z)) / density(z);
    return z;
  }

  /** Wilson's limits for one rate. */
  function wilson(x, n, z) {
    const rate = x / n;
    const centre = (rate + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
    const reach = (z * Math.sqrt((rate * (1 - rate)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n);
    return [centre - reach, centre + reach];
  }

  /** Newcombe's square-and-add of two Wilson intervals (1998, method 10). */
  function newcombe(xA, nA, xB, nB, alpha) {
    const [a, b] = [xA / nA, xB / nB];
    const [lowA, highA] = wilson(xA, nA, critical(alpha));
    const [lowB, highB] = wilson(xB, nB, critical(alpha));
    return [a - b - Math.hypot(a - lowA, highB - b), a - b + Math.hypot(highA - a, b - lowB)];
  }

  /** The likeliest rate of B where the rates differ by delta: the middle root of a cubic. */
  function restrictedRate(delta, xA, nA, xB, nB) {
    const [n, x] = [nA + nB, xA + xB];
    const l2 = (nA + 2 * nB) * delta - n - x;
    const l1 = (nB * delta - n - 2 * xB) * delta + x;
    const l0 = xB * delta * (1 - delta);
    const shift = l2 / (3 * n);
    const q = shift ** 3 - (l1 * l2) / (6 * n ** 2) + l0 / (2 * n);
    const p = (q < 0 ? -1 : 1) * Math.sqrt(Math.max(shift ** 2 - l1 / (3 * n), 0));
    const ratio = Math.min(Math.max(q / (p === 0 ? 1 : p) ** 3, -1), 1);
    const root = 2 * p * Math.cos((Math.PI + Math.acos(ratio)) / 3) - shift;
    return Math.min(Math.max(root, 0, -delta), 1, 1 - delta);
  }

  /** How many standard errors the observed difference lies above delta. */
  function score(delta, xA, nA, xB, nB) {
    const b = restrictedRate(delta, xA, nA, xB, nB);
    const a = Math.min(Math.max(b + delta, 0), 1);
    const n = nA + nB;
    const variance = ((a * (1 - a)) / nA + (b * (1 - b)) / nB) * (n / (n - 1));
    const distance = xA / nA - xB / nB - delta;
    if (variance > 1e-18) return distance / Math.sqrt(variance);
    return Math.abs(distance) > 1e-12 ? Math.sign(distance) * Infinity : 0; // without variance: right or impossible
  }

  /** The differences that the score test does not reject (Miettinen & Nurminen 1985), by bisection. */
  function miettinenNurminen(xA, nA, xB, nB, alpha) {
    const z = critical(alpha);
    const lowest = (...counts) => {
      let [rejected, kept] = [-1, counts[0] / counts[1] - counts[2] / counts[3]];
      for (let step = 0; step < 44; step += 1) {
        const middle = (rejected + kept) / 2;
        if (score(middle, ...counts) > z) rejected = middle;
        else kept = middle;
      }
      return rejected;
    };
    return [lowest(xA, nA, xB, nB), -lowest(xB, nB, xA, nA)];
  }

  const around = (difference, reach) => [Math.max(difference - reach, -1), Math.min(difference + reach, 1)];
  const difference = (xA, nA, xB, nB) => xA / nA - xB / nB;

  /** Hoeffding's inequality for two samples. */
  function hoeffding(xA, nA, xB, nB, alpha) {
    return around(difference(xA, nA, xB, nB), Math.sqrt(((1 / nA + 1 / nB) * Math.log(2 / alpha)) / 2));
  }

  /** Ethayarajh's bound with the maximal variance, gamma being the smaller group's share. */
  function bernsteinMaximal(xA, nA, xB, nB, alpha) {
    const gamma = Math.min(nA, nB) / (nA + nB);
    const options = { variance: (1 / gamma) ** 2, gamma, maxCost: 1, confidence: 1 - alpha };
    return around(difference(xA, nA, xB, nB), halfWidth(nA + nB, options));
  }

  /** Bernstein's inequality with upper limits for both groups' standard deviations (Maurer & Pontil 2009). */
  function empiricalBernstein(xA, nA, xB, nB, alpha) {
    const [tail, limit] = [Math.log(1 / (0.45 * alpha)), Math.log(1 / (0.05 * alpha))];
    const part = (x, n) => {
      const variance = ((x / n) * (1 - x / n) * n) / Math.max(n - 1, 1);
      return Math.min(Math.sqrt(variance) + Math.sqrt((2 * limit) / Math.max(n - 1, 1e-9)), 0.5) ** 2 / n;
    };
    const reach = Math.sqrt(2 * (part(xA, nA) + part(xB, nB)) * tail) + tail / (3 * Math.min(nA, nB));
    return around(difference(xA, nA, xB, nB), reach);
  }

  /** Names as in fairlib.bounds.METHODS. */
  const METHODS = {
    bernstein_maximal: bernsteinMaximal,
    hoeffding,
    empirical_bernstein: empiricalBernstein,
    miettinen_nurminen: miettinenNurminen,
    newcombe,
  };

  /**
   * Bias amplification (Wang & Russakovsky 2021, eqs. 1 and 2) of a task and two groups, from expected counts.
   *
   * women, men: [with the task, without it]. seen: what share of women and of men is seen with the task. taken: what
   * share of those with and of those without the task is taken for women. Either is right where it is left out.
   */
  function amplification({ women, men, seen, taken }) {
    const sizes = [women[0] + women[1], men[0] + men[1]];
    const doing = [women[0], men[0]];
    const [n, task] = [sizes[0] + sizes[1], women[0] + men[0]];
    const lean = sizes.map((size, a) => n * doing[a] > size * task); // y of eq. 2; a tie counts as "no"
    const found = seen ? sizes.map((size, a) => size * seen[a]) : doing;
    const called = taken ? [task * taken[0], task * (1 - taken[0])] : found;
    const all = called[0] + called[1];
    const mean = (deltas) => deltas.reduce((sum, delta, a) => sum + (lean[a] ? delta : -delta), 0) / 2;
    return {
      MALS: doing.reduce((sum, x, a) => sum + (2 * x > task ? called[a] / all - x / task : 0), 0),
      "A->T": mean(sizes.map((size, a) => found[a] / size - doing[a] / size)),
      "T->A": mean(doing.map((x, a) => (taken ? called[a] : x) / task - x / task)),
    };
  }

  return { smallestBias, sampleSize, distribution, critical, wilson, METHODS, amplification };
})();

if (typeof module !== "undefined") module.exports = numbers;
