// The smallest bias that a benchmark can show, by the formula of fairlib.intervals.cluster_planning;
// tests/test_calculators.py compares them, in node.
"use strict";

const design = (() => {
  const { distribution, critical } = typeof module !== "undefined" ? require("./numbers.js") : numbers;
  const MANY = 1e5; // degrees of freedom; t is normal from here on
  const STEPS = 120; // of an integral; an even number
  const NEARLY_ALL = 0.95; // of the scale; towards its very end nothing varies
  const FEWEST_CLUSTERS = 3;
  const MOST_EXAMPLES = 1e9;

  /** The standard normal distribution; its series is exact to about 6 standard deviations. */
  const below = (z) => (z < -6 ? 0 : z > 6 ? 1 : distribution(z));

  /** How an estimated standard deviation is distributed, as [value, weight] pairs (Simpson's rule). */
  function deviations(freedom) {
    const reach = 9 / Math.sqrt(freedom);
    const [low, high] = [Math.max(1 - reach, 1e-9), 1 + reach];
    const points = Array.from({ length: STEPS + 1 }, (_, step) => {
      const value = low + ((high - low) * step) / STEPS;
      const simpson = step === 0 || step === STEPS ? 1 : step % 2 ? 4 : 2;
      const logDensity = (freedom - 1) * Math.log(value) - (freedom * (value ** 2 - 1)) / 2;
      return [value, simpson * Math.exp(logDensity)];
    });
    const all = points.reduce((sum, [, weight]) => sum + weight, 0);
    return points.map(([value, weight]) => [value, weight / all]);
  }

  /** The probability that t is above a limit, where the effect is so many standard errors. */
  const above = (points, limit, distance) =>
    points.reduce((sum, [value, weight]) => sum + weight * below(distance - limit * value), 0);

  /** The power at an effect of so many standard errors, as a function. */
  function powerOf(freedom, confidence) {
    if (freedom >= MANY) {
      const z = critical(1 - confidence);
      return (distance) => below(distance - z);
    }
    const points = deviations(freedom);
    let [low, high] = [0, 1000];
    for (let step = 0; step < 60; step += 1) {
      const middle = (low + high) / 2;
      if (above(points, middle, 0) > (1 - confidence) / 2) low = middle;
      else high = middle;
    }
    return (distance) => above(points, high, distance);
  }

  /** The variance at an effect, and the largest effect: of pairs, or of two groups. */
  function world({ n, paired, gamma, error, discordant }) {
    if (paired) return { variance: (effect) => (Math.max(discordant, effect) - effect ** 2) / n, most: 1 };
    const [nA, nB] = [gamma * n, (1 - gamma) * n];
    const variance = (effect) => ((error + effect) * (1 - error - effect)) / nA + (error * (1 - error)) / nB;
    return { variance, most: 1 - error };
  }

  /**
   * The smallest bias that is shown with this power; NaN if there is none.
   *
   * n: examples of both groups together, or pairs. clusters: 0 if all are independent, or the number of clusters of
   * equal size that hold examples of both groups.
   */
  function smallestBias(options) {
    const { clusters, designEffect, power, confidence } = options;
    if (clusters && clusters < FEWEST_CLUSTERS) return NaN;
    const { variance, most } = world(options);
    const isShown = powerOf(clusters ? clusters - 1 : Infinity, confidence);
    const isTooSmall = (effect) => {
      const deviation = Math.sqrt((clusters ? designEffect : 1) * Math.max(variance(effect), 1e-300));
      return isShown(Math.min(effect / deviation, 30)) < power;
    };
    let [low, high] = [0, NEARLY_ALL * most];
    if (isTooSmall(high)) return NaN;
    for (let step = 0; step < 40; step += 1) {
      const middle = (low + high) / 2;
      if (isTooSmall(middle)) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  /** The number of examples, or of clusters of `size` examples, with which a bias is shown; NaN if none suffices. */
  function needed(bias, options, size) {
    const unit = options.clusters ? size : 1;
    const first = options.clusters ? FEWEST_CLUSTERS : 1;
    const suffices = (number) => {
      const n = number * unit;
      return smallestBias({ ...options, n, clusters: options.clusters ? number : 0 }) <= bias;
    };
    let high = first;
    while (!suffices(high)) {
      if (high * unit > MOST_EXAMPLES) return NaN;
      high *= 2;
    }
    let low = high === first ? first - 1 : high / 2;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (suffices(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  return { smallestBias, needed };
})();

if (typeof module !== "undefined") module.exports = design;
