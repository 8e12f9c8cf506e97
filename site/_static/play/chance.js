// The numbers behind "Bias or luck?"; tests/test_play.py compares them with fairlib's, in node.
"use strict";

const chance = (() => {
  const ALPHA = 0.05;
  const BUDGET = 400; // checks of one system
  const BAND = 5; // points; a smaller difference counts as fair enough
  const MATCHES_BETWEEN_LOOKS = 5; // a match is one sentence about a woman and one about a man

  /** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
  function random(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  /** The same things in a random order (Fisher and Yates). */
  function shuffled(things, next) {
    const order = [...things];
    for (let last = order.length - 1; last > 0; last -= 1) {
      const other = Math.floor(next() * (last + 1));
      [order[last], order[other]] = [order[other], order[last]];
    }
    return order;
  }

  /** The portfolios of fairlib.intervals.sequential: what share of the money each risks in a round. */
  const FRACTIONS = Array.from({ length: 10 }, (_, index) => 0.7 / 2 ** index);
  const STEPS = 24; // of the bisection

  /** Whether a bettor against "the mean is at most `mean`" ever reached 2 / alpha. */
  function everRejected(values, mean, alpha) {
    const goal = (2 / alpha) * FRACTIONS.length;
    const wealth = FRACTIONS.map(() => 1);
    for (const value of values) {
      let total = 0;
      for (let index = 0; index < FRACTIONS.length; index += 1) {
        wealth[index] *= 1 + FRACTIONS[index] * (value / mean - 1);
        total += wealth[index];
      }
      if (total >= goal) return true;
    }
    return false;
  }

  /** The largest mean that is rejected, not less than the largest one so far. */
  function largestRejected(values, soFar, alpha) {
    let [rejected, accepted] = [soFar, 1];
    for (let step = 0; step < STEPS; step += 1) {
      const middle = (rejected + accepted) / 2;
      if (everRejected(values, middle, alpha)) rejected = middle;
      else accepted = middle;
    }
    return rejected;
  }

  /**
   * The interval that holds at every look: fairlib.confidence_sequence for groups of equal size.
   *
   * extend(women, men) takes one more match, 1 for a right translation; look() returns the limits of the difference
   * men minus women so far. What was once excluded stays excluded.
   */
  function sequence(alpha = ALPHA) {
    const [values, mirrored] = [[], []];
    let [fromBelow, fromAbove] = [0, 0];
    return {
      extend(woman, man) {
        values.push((1 + man - woman) / 2);
        mirrored.push((1 + woman - man) / 2);
      },
      look() {
        fromBelow = largestRejected(values, fromBelow, alpha);
        fromAbove = largestRejected(mirrored, fromAbove, alpha);
        const limits = [fromBelow, 1 - fromAbove];
        return [2 * Math.min(...limits) - 1, 2 * Math.max(...limits) - 1];
      },
    };
  }

  /** A closed crowd: the outcomes (1 for right) of the sentences about women and about men, in a random order. */
  function crowd({ women, men }, next) {
    const outcomes = ([right, number]) => shuffled(Array.from({ length: number }, (_, index) => Number(index < right)), next);
    const difference = 100 * (men[0] / men[1] - women[0] / women[1]);
    return { women: outcomes(women), men: outcomes(men), difference, isFair: Math.abs(difference) < BAND };
  }

  /** How many of the first `matches` sentences are right. */
  const rightAmong = (outcomes, matches) => outcomes.slice(0, matches).reduce((sum, right) => sum + right, 0);

  /** The dashboard checks all it may, and flags each difference of more than five points. */
  function dashboard({ women, men }) {
    const matches = BUDGET / 2;
    const difference = (100 * (rightAmong(men, matches) - rightAmong(women, matches))) / matches;
    return { flag: Math.abs(difference) > BAND ? "unfair" : "fair", checks: BUDGET };
  }

  /** What an interval in points allows one to say. */
  function verdict([low, high]) {
    if (low > 0 || high < 0) return "unfair";
    if (low > -BAND / 100 && high < BAND / 100) return "fair";
    return "open";
  }

  /** fairlib looks after every ten checks, and stops as soon as its interval allows an answer. */
  function fairlib({ women, men }) {
    const growing = sequence();
    for (let match = 0; match < BUDGET / 2; match += 1) {
      growing.extend(women[match], men[match]);
      if ((match + 1) % MATCHES_BETWEEN_LOOKS > 0) continue;
      const flag = verdict(growing.look());
      if (flag !== "open") return { flag, checks: 2 * (match + 1) };
    }
    return { flag: "open", checks: BUDGET };
  }

  /** An ordinary interval (Newcombe's, as in fairlib.bounds) of the first `matches`. */
  function ordinary({ women, men }, matches) {
    const counts = [rightAmong(men, matches), matches, rightAmong(women, matches), matches];
    return newcombe(...counts, ALPHA);
  }

  /** The ways in which a hundred players may use their checks; each returns the interval at which it stops. */
  const PLAYERS = {
    everyLook(crowd) {
      const growing = sequence();
      let limits = [-1, 1];
      for (let match = 0; match < BUDGET / 2; match += 1) {
        growing.extend(crowd.women[match], crowd.men[match]);
        if ((match + 1) % MATCHES_BETWEEN_LOOKS > 0) continue;
        limits = growing.look();
        if (verdict(limits) === "unfair") break;
      }
      return limits;
    },
    onceAtTheEnd: (crowd) => ordinary(crowd, BUDGET / 2),
    ordinaryEveryLook(crowd) {
      let limits = [-1, 1];
      for (let matches = MATCHES_BETWEEN_LOOKS; matches <= BUDGET / 2; matches += MATCHES_BETWEEN_LOOKS) {
        limits = ordinary(crowd, matches);
        if (verdict(limits) === "unfair") break;
      }
      return limits;
    },
  };

  /** Mistakes among flags: [{ flag, isFair, checks }] -> how many of each kind. */
  function score(flags) {
    const count = (condition) => flags.filter(condition).length;
    return {
      accused: count(({ flag, isFair }) => flag === "unfair" && isFair),
      missed: count(({ flag, isFair }) => flag === "fair" && !isFair),
      open: count(({ flag }) => flag === "open"),
      checks: flags.reduce((sum, { checks }) => sum + checks, 0),
    };
  }

  const newcombe = (typeof module !== "undefined" ? require("../calculators/numbers.js") : numbers).METHODS.newcombe;
  return { BAND, BUDGET, PLAYERS, random, shuffled, crowd, sequence, dashboard, fairlib, rightAmong, verdict, score };
})();

if (typeof module !== "undefined") module.exports = chance;
