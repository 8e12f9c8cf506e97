// "Bias or luck?": two crowds a round, five rounds, and then a hundred players.
"use strict";

(() => {
  const { make, line, dot, text } = drawing;
  const { BAND, BUDGET } = chance;
  const ROUNDS = 5;
  const CHOICES = {
    unfair: "Unfair",
    fair: `Fair enough (under ${BAND} points)`,
    open: "Cannot tell",
  };
  const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");
  const points = (share) => (100 * share).toFixed(0).replace("-", "−");
  const inPoints = (share) => `${points(share)} ${points(share) === "1" ? "point" : "points"}`;
  /** Who is ahead, and what the interval allows, in words. */
  function ahead(difference) {
    if (points(difference).replace("−", "") === "0") return "Nobody is ahead";
    return `${difference > 0 ? "Men" : "Women"} are ahead by ${inPoints(Math.abs(difference))}`;
  }
  function reach([low, high]) {
    const side = (value) => `${inPoints(Math.abs(value))} for ${value > 0 ? "men" : "women"}`;
    return low > 0 || high < 0
      ? `the interval allows a lead from ${points(Math.min(Math.abs(low), Math.abs(high)))} to ${inPoints(Math.max(Math.abs(low), Math.abs(high)))}`
      : `the interval allows any lead from ${side(low)} to ${side(high)}`;
  }
  const button = (words, press, attributes = {}) => {
    const node = make("button", { type: "button", ...attributes }, words);
    node.addEventListener("click", press);
    return node;
  };

  /** The outcomes of one group as a canvas of dots: closed, open, and after the round sorted. */
  function dots(outcomes, words, next) {
    const columns = 39;
    const pitch = 5;
    const rows = Math.ceil(outcomes.length / columns);
    const canvas = make("canvas", { width: 2 * columns * pitch, height: 2 * rows * pitch, role: "img", "aria-label": words });
    const places = chance.shuffled(outcomes.map((_, index) => index), next);
    const kinds = outcomes.map(() => "closed");
    const context = canvas.getContext("2d");
    context.scale(2, 2);

    function paint() {
      const style = getComputedStyle(canvas);
      const colours = Object.fromEntries(["closed", "right", "wrong"].map((kind) => [kind, style.getPropertyValue(`--dot-${kind}`)]));
      context.clearRect(0, 0, columns * pitch, rows * pitch);
      kinds.forEach((kind, place) => {
        const x = (place % columns) * pitch + pitch / 2;
        const y = Math.floor(place / columns) * pitch + pitch / 2;
        context.fillStyle = colours[kind];
        context.beginPath();
        if (kind === "wrong") context.rect(x - 2.2, y - 2.2, 4.4, 4.4);
        else context.arc(x, y, kind === "closed" ? 1 : 2, 0, 7);
        context.fill();
      });
    }

    return {
      canvas,
      paint,
      open(from, to) {
        for (let index = from; index < to; index += 1) kinds[places[index]] = outcomes[index] ? "right" : "wrong";
        paint();
      },
      /** All dots, the wrong ones at the bottom, so that their height is their share. */
      sort() {
        const right = chance.rightAmong(outcomes, outcomes.length);
        kinds.forEach((_, place) => { kinds[place] = place < right ? "right" : "wrong"; });
        paint();
      },
    };
  }

  // The ends of every axis, in points; what lies beyond them is cut off.
  const [LOWEST, HIGHEST] = [-50, 75];
  const within = (value) => Math.min(Math.max(value, LOWEST), HIGHEST);

  /** The difference so far and its interval, on an axis in points. */
  function axis() {
    const svg = make("svg", { role: "img", class: "play-axis" });
    const height = 62;
    function draw({ estimate, limits, truth }) {
      const width = Math.max(svg.parentNode ? svg.parentNode.clientWidth : 320, 240);
      const x = (value) => 12 + ((within(value) - LOWEST) / (HIGHEST - LOWEST)) * (width - 24);
      svg.setAttribute("width", width);
      svg.setAttribute("height", height);
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      const shapes = [make("rect", { x: x(-BAND), y: 8, width: x(BAND) - x(-BAND), height: 28, class: "play-band" })];
      shapes.push(line(x(0), 6, x(0), 38, "play-zero"), line(x(LOWEST), 38, x(HIGHEST), 38, "play-rule"));
      for (const tick of [-50, -25, 0, 25, 50, 75]) {
        const words = tick === 0 ? "0" : `${tick > 0 ? "+" : "−"}${Math.abs(tick)}`;
        shapes.push(text(x(tick), 54, words, tick === HIGHEST ? "end" : "middle"));
      }
      shapes.push(text(x(LOWEST) - 10, 12, "women ahead"), text(x(HIGHEST) + 10, 12, "men ahead", "end"));
      shapes.push(line(x(100 * limits[0]), 26, x(100 * limits[1]), 26, "play-interval"));
      if (estimate !== null) shapes.push(dot(x(100 * estimate), 26, "play-estimate", 5));
      if (truth !== undefined) shapes.push(line(x(truth), 4, x(truth), 40, "play-truth"));
      svg.replaceChildren(...shapes);
    }
    return { svg, draw };
  }

  /** One system of a round: two canvases, a handle, a sentence, an axis, and three flags. */
  function system(name, closed, next, changed) {
    const state = { matches: 0, flag: null, limits: [-1, 1], estimate: null, isOpen: false };
    const growing = chance.sequence();
    const groups = { women: dots(closed.women, `${name}: sentences about women`, next), men: dots(closed.men, `${name}: sentences about men`, next) };
    const picture = axis();
    const words = make("p", { class: "play-words" });
    const live = make("p", { class: "play-hidden", "aria-live": "polite" });
    const slider = make("input", { type: "range", min: 0, max: BUDGET, step: 2, value: 0, "aria-label": `Check more sentences of ${name}` });
    const flags = make("fieldset", { class: "play-flags" }, make("legend", {}, `Your verdict on ${name}`));

    function sentence() {
      if (state.matches === 0) return "No sentence is checked yet. Move the handle to check some.";
      const right = (group) => `${chance.rightAmong(closed[group], state.matches)} of ${state.matches} about ${group}`;
      return `Right: ${right("women")}, ${right("men")}. ${ahead(state.estimate)}, and ${reach(state.limits)}.`;
    }

    function show() {
      for (const drawn of Object.values(groups)) drawn.paint();
      words.textContent = sentence();
      picture.svg.setAttribute("aria-label", `Picture of the interval of ${name}; the words above say the same.`);
      picture.draw({ ...state, truth: state.isOpen ? closed.difference : undefined });
      slider.value = 2 * state.matches;
      slider.setAttribute("aria-valuetext", `${2 * state.matches} of ${BUDGET} checks`);
    }

    function check(to) {
      if (state.isOpen || to <= state.matches) return show();
      for (let match = state.matches; match < to; match += 1) growing.extend(closed.women[match], closed.men[match]);
      for (const drawn of Object.values(groups)) drawn.open(state.matches, to);
      state.matches = to;
      state.limits = growing.look();
      state.estimate = (chance.rightAmong(closed.men, to) - chance.rightAmong(closed.women, to)) / to;
      show();
    }

    slider.addEventListener("input", () => check(Math.floor(Number(slider.value) / 2)));
    slider.addEventListener("change", () => { live.textContent = sentence(); });
    for (const [value, label] of Object.entries(CHOICES)) {
      const radio = make("input", { type: "radio", name: `flag-${name}`, value });
      radio.addEventListener("change", () => { state.flag = value; changed(); });
      flags.append(make("label", {}, radio, " ", label));
    }

    const pictures = Object.entries(groups).map(([group, { canvas }]) => make("figure", {}, canvas, make("figcaption", {}, group)));
    const handle = make("label", { class: "play-handle" }, make("span", {}, "Check more sentences →"), slider);
    const node = make("section", { class: "play-system", "aria-label": name }, make("h2", {}, name));
    node.append(handle, make("div", { class: "play-crowd" }, ...pictures), words, live, picture.svg, flags);
    new ResizeObserver(show).observe(node);
    new MutationObserver(show).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return {
      node,
      state,
      reveal() {
        state.isOpen = true;
        slider.disabled = true;
        flags.disabled = true;
        const sort = () => Object.values(groups).forEach((drawn) => drawn.sort());
        if (CALM.matches) sort();
        else setTimeout(sort, 400);
        show();
      },
    };
  }

  /** The crowds of a game: each level twice, in a random order, from systems drawn at random. */
  function deal(next) {
    const levels = [...new Set(playData.crowds.map(({ level }) => level))];
    return chance.shuffled([...levels, ...levels], next).map((level) => {
      const suitable = playData.crowds.filter((one) => one.level === level);
      const chosen = suitable[Math.floor(next() * suitable.length)];
      return { ...chosen, ...chance.crowd(chosen, next) };
    });
  }

  const NAMES = { unfair: "“unfair”", fair: "“fair enough”", open: "“cannot tell”" };
  function judged(flag, isFair) {
    if (flag === "open") return isFair ? "nobody is accused" : "the bias is left open";
    return (flag === "fair") === isFair ? "right" : isFair ? "a false accusation" : "a missed bias";
  }

  /** What the three players said of one crowd, and what is true. */
  function revealed(name, crowd, mine) {
    const players = [["You", mine], ["The dashboard", chance.dashboard(crowd)], ["fairlib", chance.fairlib(crowd)]];
    const items = players.map(([who, { flag, checks }]) =>
      make("li", {}, `${who} checked ${checks} sentences and said ${NAMES[flag]}: ${judged(flag, crowd.isFair)}.`));
    const exchanged = crowd.level === null ? "as they were released"
      : "but we exchanged the gender at random in a share of the sentences, to make the difference smaller";
    const truth = `${name} has the outcomes of ${crowd.system} in 2019, ${exchanged}. Over all its sentences, men are ahead by ${crowd.difference.toFixed(1)} points.`;
    return { node: make("div", {}, make("p", {}, truth), make("ul", {}, ...items)), players };
  }

  /** What ten systems cannot show, and twenty thousand games can. */
  function moral() {
    const often = playData.longRun.unfair["0"];
    const percent = (way) => `${(100 * often[way]).toFixed(often[way] < 0.1 ? 1 : 0)} %`;
    const words = `You have seen ten systems, and luck decides who wins among so few. In ${playData.longRun.worlds.toLocaleString("en")} games with a system that has no difference, `
      + `the dashboard calls it unfair in ${percent("dashboard")}, and fairlib in ${percent("everyLook")}. The price is that fairlib often cannot tell after ${BUDGET} checks. `
      + "That is what an interval is for: it says when you have seen enough, and when you have not.";
    return make("p", {}, words);
  }

  function scoreTable(results) {
    const kinds = { accused: "wrongly accused", missed: "bias missed", open: "cannot tell", checks: "checked" };
    const head = make("tr", {}, make("th", { scope: "col" }, "player"), ...Object.values(kinds).map((words) => make("th", { scope: "col" }, words)));
    const rows = Object.entries(results).map(([who, flags]) => {
      const score = chance.score(flags);
      return make("tr", {}, make("th", { scope: "row" }, who), ...Object.keys(kinds).map((kind) => make("td", {}, score[kind].toLocaleString("en"))));
    });
    return make("div", { class: "wide" }, make("table", { class: "play-score" }, make("thead", {}, head), make("tbody", {}, ...rows)));
  }

  const WAYS = {
    everyLook: "the interval of this game",
    onceAtTheEnd: "an ordinary interval, once at the end",
    ordinaryEveryLook: "an ordinary interval, every ten checks",
  };

  /** A hundred players check one kind of crowd; those whose interval misses the truth are orange. */
  function hundred(next) {
    const levels = [...new Set(playData.crowds.map(({ level }) => level))].filter((level) => level !== null);
    const select = (label, options) => {
      const field = make("select", {}, ...options.map(([value, words]) => make("option", { value }, words)));
      return [field, make("label", {}, make("span", {}, label), field)];
    };
    const [way, wayLabel] = select("The players use", Object.entries(WAYS));
    const [level, levelLabel] = select("The true difference is", levels.map((value) => [value, `${value} points`]));
    const svg = make("svg", { role: "img", class: "play-hundred" });
    const words = make("p", { class: "play-words", "aria-live": "polite" });

    function draw() {
      const kind = playData.crowds.find((one) => String(one.level) === level.value);
      const played = Array.from({ length: 100 }, () => {
        const crowd = chance.crowd(kind, next);
        return { limits: chance.PLAYERS[way.value](crowd), truth: crowd.difference / 100 };
      });
      const missed = ({ limits, truth }) => truth < limits[0] || truth > limits[1];
      const accused = played.filter(({ limits }) => chance.verdict(limits) === "unfair").length;
      const often = playData.longRun.unfair[level.value][way.value];
      words.textContent =
        `${accused} of 100 players called this crowd unfair, and ${played.filter(missed).length} intervals missed the true difference. ` +
        `In ${playData.longRun.worlds.toLocaleString("en")} simulated games, ${(100 * often).toFixed(1)} % of players call it unfair.`;
      const width = Math.max(svg.parentNode.clientWidth, 240);
      const height = 190;
      const y = (value) => 6 + ((HIGHEST - within(100 * value)) / (HIGHEST - LOWEST)) * (height - 12);
      svg.setAttribute("width", width);
      svg.setAttribute("height", height);
      svg.setAttribute("aria-label", `A hundred intervals. ${words.textContent}`);
      const shapes = played.map((player, index) => {
        const x = 6 + ((index + 0.5) * (width - 12)) / 100;
        return line(x, y(player.limits[1]), x, y(player.limits[0]), missed(player) ? "play-missed" : "play-held");
      });
      shapes.push(line(0, y(0), width, y(0), "play-zero"), line(0, y(played[0].truth), width, y(played[0].truth), "play-truth"));
      svg.replaceChildren(...shapes);
    }

    way.addEventListener("change", draw);
    level.addEventListener("change", draw);
    const again = button("Let another hundred play", draw);
    const legend = make("p", { class: "play-small" }, "Each line is the interval of one player. The dashed line is the true difference, and orange intervals miss it. The thin line is 0.");
    const node = make("section", { class: "play-players" }, make("h2", {}, "What if 100 people had played this?"));
    node.append(make("div", { class: "play-choices" }, wayLabel, levelLabel), words, svg, legend, again);
    return { node, draw };
  }

  /** A whole game in `place`. */
  function game(place) {
    const seed = Number(new URLSearchParams(window.location.search).get("seed")) || Math.floor(Math.random() * 2 ** 32);
    const next = chance.random(seed);
    const crowds = deal(next);
    const results = { You: [], "The dashboard": [], fairlib: [] };
    const title = make("p", { class: "play-round", tabindex: -1 });
    const table = make("div", { class: "play-systems" });
    const after = make("div", { class: "play-after", "aria-live": "polite" });
    place.replaceChildren(title, table, after);

    function round(number) {
      title.textContent = `Round ${number + 1} of ${ROUNDS}. You may check up to ${BUDGET} sentences of each system.`;
      const dealt = [0, 1].map((index) => crowds[2 * number + index]);
      const open = button("Open all dots", () => end(number, dealt, systems), { disabled: "", class: "play-main" });
      const changed = () => { open.disabled = systems.some(({ state }) => !state.flag); };
      const systems = dealt.map((crowd, index) => system(`System ${"AB"[index]}`, crowd, next, changed));
      table.replaceChildren(...systems.map(({ node }) => node));
      after.replaceChildren(make("p", {}, "Give a verdict on both systems. Then all dots open, and you see who was right."), open);
    }

    function end(number, dealt, systems) {
      const parts = systems.map(({ state, reveal }, index) => {
        reveal();
        const mine = { flag: state.flag, checks: 2 * state.matches };
        const part = revealed(`System ${"AB"[index]}`, dealt[index], mine);
        for (const [who, said] of part.players) (results[who] || results.You).push({ ...said, isFair: dealt[index].isFair });
        return part.node;
      });
      const isLast = number + 1 === ROUNDS;
      const go = isLast
        ? button("Play again", () => game(place), { class: "play-main" })
        : button("Next round", () => { round(number + 1); title.focus(); }, { class: "play-main" });
      after.replaceChildren(...parts, scoreTable(results));
      // The button that had the focus is gone: the keyboard goes on at the result.
      parts[0].tabIndex = -1;
      parts[0].focus({ preventScroll: true });
      if (isLast) {
        const players = hundred(next);
        after.append(moral(), players.node);
        players.draw();
      }
      after.append(go);
    }

    round(0);
  }

  const place = document.getElementById("bias-or-luck");
  if (place) game(place);
})();
