"""Visit every page of the built site in a browser without network, and find faults.

Each page is visited at two widths, in light and dark; one page of each kind is visited
at two more.

python site/check.py [--axe FILE] [--pictures FOLDER] [PAGE ...]

Fails on a request to another server, a failed request, an error in the console, a link
or anchor that leads nowhere, two places with the same name, content that is wider than
the page, mathematics that is not drawn, a picture without words, anything that axe
objects to (best practices included), a ledger that does not sort numbers as numbers or
does not filter, an answer that is shown before its prediction, a control that does not
change its picture, a game that cannot be played with the keyboard, a search that lists
code above lessons, a page that is too large as sent, and a first page on which one
waits too long for the game.
"""

import argparse
import asyncio
import functools
import gzip
import http.server
import os
import shutil
import sys
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urldefrag

from playwright.async_api import async_playwright

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site" / "html"
AXE = ROOT / "build" / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"))
# One page of each kind, where all that axe knows is asked at more widths
KINDS = (
    "index.html",
    "games.html",
    "calculators.html",
    "benchmarks.html",
    "notebooks/00_start_here.html",
    "notebooks/dossier/04_semeval_heatmaps.html",
)
LOOKS_OF_KINDS = ((320, "dark"), (768, "light"))
# A search, and how the address of what it must list first begins
SEARCHES = {
    "search.html?q=interval": "notebooks/",
    "search.html?q=disparity_interval": "api.html#",
}
MOST_BYTES = 1_000_000  # of a page, with all that it loads, as sent
MOST_BYTES_OF_FIRST_PAGE = 300_000
# A slow telephone network: 1.6 Mbit/s, and 150 ms until an answer begins
SLOW_NETWORK = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_600_000 / 8,
    "uploadThroughput": 750_000 / 8,
}
MOST_SECONDS_UNTIL_PLAY = 2.5
MOST_TRIES = 5
ZIPPED = {".css", ".csv", ".html", ".js", ".json", ".md", ".svg"}
TOGETHER = max(2, os.cpu_count() or 2)  # pages that are visited at the same time

READY = """async () => {
  const decoded = [...document.images].map((image) => image.decode().catch(() => {}));
  await Promise.all(decoded);
  await document.fonts.ready;
}"""
CONTENT = r"""() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const text = document.body.cloneNode(true);
  const apart = "pre, code, script, style, math, table.dataframe";
  for (const element of text.querySelectorAll(apart)) element.remove();
  const isWordless = (image) =>
    !image.alt.trim() && image.getAttribute("role") !== "presentation";
  const images = [...document.images];
  const ids = all("[id]").map((place) => place.id);
  return {
    twice: ids.filter((id, place) => ids.indexOf(id) !== place),
    links: all("a[href], iframe[src]").map((link) => link.href || link.src),
    ids: all("[id], a[name]").map((place) => place.id || place.name),
    undrawn: all(".math").filter((place) => !place.querySelector("math")).length
      + all("merror").length,
    raw: text.textContent.match(/\\[a-zA-Z]{3,}/g) || [],
    wordless: images.filter(isWordless).map((image) => image.src),
    broken: images.filter((image) => !image.naturalWidth).map((image) => image.src),
  };
}"""
WIDER = """() => {
  const clipped = (one) => one && one !== document.body
    && (getComputedStyle(one).overflowX !== "visible" || clipped(one.parentElement));
  const sticksOut = (one) => one.getBoundingClientRect().right > innerWidth + 1
    && !clipped(one.parentElement);
  const name = (one) => `${one.tagName}.${one.className.baseVal ?? one.className}`;
  if (document.documentElement.scrollWidth <= innerWidth + 1) return [];
  return [...document.querySelectorAll("body *")]
    .filter(sticksOut).slice(0, 3).map(name).concat("page");
}"""
BARRIERS = """(rules) => axe.run(document, {
  ...(rules ? { runOnly: rules } : {}),
  resultTypes: ["violations", "incomplete"], iframes: false, preload: false,
}).then(({violations, incomplete}) => {
  // Text of its ground's own colour
  const unseen = ({any}) => any.some(({data}) => data?.messageKey === "equalRatio");
  const hidden = incomplete.map((rule) => (
    {...rule, nodes: rule.nodes.filter(unseen)}
  ));
  return [...violations, ...hidden].filter(({nodes}) => nodes.length)
    .map(({id, impact, nodes}) => (
      [impact, id, nodes.length, nodes[0].html.slice(0, 160)]
    ));
})"""
OF_LOOKS = [
    "color-contrast",
    "link-in-text-block",
    "scrollable-region-focusable",
    "target-size",
]
# All rules at first, then those whose answer depends on the look
RULES = {
    (1280, "light"): None,
    (390, "dark"): OF_LOOKS,
    (320, "dark"): None,
    (768, "light"): OF_LOOKS,
}
LEDGER = """() => {
  const table = document.getElementById("ledger-table");
  const form = document.getElementById("ledger-filters");
  const headings = [...table.tHead.rows[0].cells];
  const heading = headings.find((cell) => cell.textContent.trim() === "printed");
  const wrong = [];
  const printed = (row) => row.cells[heading.cellIndex].textContent.trim();
  const numbers = () => [...table.rows].slice(1).map(printed)
    .filter((text) => /^-?[\\d.,]+$/.test(text))
    .map((text) => Number(text.replaceAll(",", "")));
  for (const [order, sign] of [["ascending", 1], ["descending", -1]]) {
    heading.querySelector("button").click();
    const column = numbers();
    const goesBack = column.some((one, k) => k && sign * (one - column[k - 1]) < 0);
    if (heading.getAttribute("aria-sort") !== order || goesBack)
      wrong.push(`ledger: not ${order}`);
  }
  form.elements.paper.value = "Paper 2";
  form.elements.status.value = "differs";
  form.dispatchEvent(new Event("change"));
  const left = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const isOther = ({dataset}) =>
    dataset.paper !== "Paper 2" || dataset.status !== "differs";
  if (!left.length || left.some(isOther)) wrong.push("ledger: not filtered");
  form.reset();
  form.dispatchEvent(new Event("change"));
  return wrong;
}"""
PREDICTIONS = """() => {
  const wrong = [];
  for (const form of document.querySelectorAll(".predict > form")) {
    const answer = form.parentNode.nextElementSibling;
    const isSeen = () => getComputedStyle(answer).display !== "none";
    if (isSeen()) wrong.push("prediction: the answer is shown before it");
    form.requestSubmit();
    if (!isSeen()) wrong.push("prediction: the answer does not come");
  }
  if (document.querySelector(".unseen")) wrong.push("prediction: some stays unseen");
  return wrong;
}"""
FRAMES = """async () => {
  const wrong = [];
  for (const form of document.querySelectorAll("form.frames")) {
    const image = form.parentNode.querySelector("img");
    const table = form.parentNode.querySelector(".chosen");
    const tables = new Set();
    if (form.hidden) wrong.push("frames: no controls");
    for (const field of form.querySelectorAll("input, select")) {
      const start = field.value, pictures = new Set(), words = new Set();
      const count = field.options ? field.options.length : Number(field.max) + 1;
      for (const value of [...Array(count).keys(), start]) {
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        const failed = () => wrong.push(`frames: not a picture: ${image.src}`);
        await image?.decode().catch(failed);
        if (image) pictures.add(image.src), words.add(image.alt);
        else tables.add(table.textContent.trim());
      }
      const label = field.labels[0].querySelector("span > span").textContent;
      if (image && (pictures.size < count || words.size < count))
        wrong.push(`frames: not changed by ${label}`);
    }
    if (!image && (tables.size < 2 || tables.has("")))
      wrong.push("frames: tables do not change, or are empty");
  }
  return wrong;
}"""
PLAYABLE = """() => {
  const handle = document.querySelector(".play input[type=range]:not([disabled])");
  return handle && performance.now() / 1000;
}"""
RANKED = """() => [...document.querySelectorAll("#search-results li > a")]
  .map((link) => link.getAttribute("href"))"""


class Zipping(http.server.SimpleHTTPRequestHandler):
    """Serves files as web servers do: text is sent compressed."""

    def log_message(self, *_):
        """Write nothing."""

    def do_GET(self):
        """Answer a request."""
        path = Path(self.translate_path(self.path))
        if path.suffix not in ZIPPED or not path.is_file():
            super().do_GET()
            return

        body = _zipped(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@functools.cache
def _zipped(path: Path) -> bytes:
    """Return a file's content, compressed; all pages share most of what they load."""
    return gzip.compress(path.read_bytes(), mtime=0)


def serve(folder: Path) -> str:
    """Serve a folder on a free port of this machine, and return its address."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Zipping, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


async def visit(
    browser, base: str, name: str, *, axe: str, pictures: Path | None
) -> tuple[dict, list[str]]:
    """Visit one page in all looks; return what it holds, and what is wrong with it."""
    wrong: list[str] = []
    requests: list = []
    context = await browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    page = await context.new_page()
    await _listen(context, page, base, wrong=wrong, requests=requests)
    await page.goto(base + name, wait_until="load")
    wrong += await page.evaluate(PREDICTIONS)
    await page.evaluate(READY)

    content = await page.evaluate(CONTENT)
    for kind in ("twice", "undrawn", "raw", "wordless", "broken"):
        if content[kind]:
            wrong.append(f"{kind}: {content[kind]}")
    if name == "ledger.html":
        wrong += await page.evaluate(LEDGER)
    if name in SEARCHES:
        await page.wait_for_load_state("networkidle")
        links = await page.evaluate(RANKED)
        if not (links and links[0].startswith(SEARCHES[name])):
            wrong.append(f"search: {SEARCHES[name]} is not first, but {links[:3]}")

    await page.evaluate(axe)
    looks = LOOKS + (LOOKS_OF_KINDS if name in KINDS else ())
    for width, scheme in looks:
        wrong += await _wrong_in_look(page, width, scheme)
        if pictures:
            flat_name = name.replace("/", "_").removesuffix(".html")
            path = pictures / f"{flat_name}_{width}_{scheme}.png"
            await page.screenshot(path=path, full_page=True)

    sizes = [await request.sizes() for request in requests]
    content["bytes"] = sum(size["responseBodySize"] for size in sizes)
    most = MOST_BYTES_OF_FIRST_PAGE if name == "index.html" else MOST_BYTES
    if content["bytes"] > most and name not in SEARCHES:
        wrong.append(f"{content['bytes']} bytes as sent, {most} are allowed")
    wrong += await page.evaluate(FRAMES)
    wrong += await _wrong_in_games(page)
    await context.close()
    return content, wrong


async def _wrong_in_games(page) -> list[str]:
    """Make one move in each game with the keyboard; return what does not answer."""
    wrong = []
    for game in await page.query_selector_all(".play"):
        words = await game.query_selector(".play-words")
        handle = await game.query_selector("input[type=range], button.play-object")
        if not words or not handle:
            wrong.append("game: it does not start")
            continue

        before = await words.text_content()
        is_slider = await handle.get_attribute("type") == "range"
        await handle.press("ArrowRight" if is_slider else "ArrowDown")
        if await words.text_content() == before:
            wrong.append("game: the keyboard does not move it")
    return wrong


async def seconds_until_play(browser, base: str) -> float:
    """Return how long one waits for the game of the first page on a slow network."""
    context = await browser.new_context(viewport={"width": 390, "height": 844})
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    await session.send("Network.emulateNetworkConditions", SLOW_NETWORK)
    await page.goto(base, wait_until="commit")
    seconds = await page.wait_for_function(PLAYABLE, polling=20)
    waited = await seconds.json_value()
    await context.close()
    return waited


async def _listen(
    context, page, base: str, *, wrong: list[str], requests: list
) -> None:
    """Write down what goes wrong while a page loads, and which requests it makes."""

    async def let_pass(route):
        if route.request.url.startswith((base, "data:", "blob:")):
            return await route.continue_()
        wrong.append(f"asks another server: {route.request.url}")
        await route.abort()

    def on_console(message):
        if message.type == "error":
            wrong.append(f"console: {message.text[:200]}")

    def on_response(response):
        if response.status >= 400:
            wrong.append(f"{response.status}: {response.url}")

    await context.route("**/*", let_pass)
    page.on("console", on_console)
    page.on("pageerror", lambda error: wrong.append(f"error: {str(error)[:200]}"))
    page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
    page.on("response", on_response)
    page.on("requestfinished", lambda request: requests.append(request))


async def _wrong_in_look(page, width: int, scheme: str) -> list[str]:
    """Show a page at this width in this colour scheme; return what is wrong there."""
    is_new_width = page.viewport_size["width"] != width
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    # The theme waits 300 ms before it looks again at what scrolls.
    await page.wait_for_timeout(400 if is_new_width else 150)

    wrong = []
    wider = await page.evaluate(WIDER)
    if wider:
        wrong.append(f"{width} {scheme}: wider than the page: {wider}")
    if (width, scheme) in RULES:
        barriers = await page.evaluate(BARRIERS, RULES[width, scheme])
        for impact, rule, count, example in barriers:
            wrong.append(
                f"{width} {scheme}: axe, {impact}: {rule}, {count} times, "
                f"as in {example}"
            )
    return wrong


def dead_links(base: str, pages: dict[str, dict]) -> dict[str, list[str]]:
    """Return the links of each page to a file or anchor of the site that is missing."""
    dead: dict[str, list[str]] = {}
    for name, content in pages.items():
        for link in set(content["links"]):
            address, anchor = urldefrag(link)
            if not address.startswith(base):
                continue

            path = unquote(address.removeprefix(base)).split("?")[0]
            target = path or "index.html"
            anchors = pages.get(target, {}).get("ids", [])
            no_file = not (SITE / target).is_file()
            no_anchor = anchor and target in pages and unquote(anchor) not in anchors
            if no_file or no_anchor:
                words = f"leads nowhere: {link.removeprefix(base)}"
                dead.setdefault(name, []).append(words)
    return dead


def names_of_pages() -> list[str]:
    """Return the addresses of all pages, and of some searches."""
    paths = [str(path.relative_to(SITE)) for path in SITE.rglob("*.html")]
    pages = [name for name in sorted(paths) if not name.startswith("_static/")]
    return [*pages, *SEARCHES]


async def check(names: list[str], *, axe: str, pictures: Path | None) -> int:
    """Visit pages, a few at a time; print what is wrong, and return how much is."""
    base = serve(SITE)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    room = asyncio.Semaphore(TOGETHER)
    pages = {}
    wrong = {}

    async with async_playwright() as tools:
        browser = await tools.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )

        # A machine that is busy with other work makes it longer, never shorter.
        waits = [await seconds_until_play(browser, base)]
        while min(waits) > MOST_SECONDS_UNTIL_PLAY and len(waits) < MOST_TRIES:
            waits.append(await seconds_until_play(browser, base))

        async def visit_when_there_is_room(name):
            async with room:
                pages[name], wrong[name] = await visit(
                    browser, base, name, axe=axe, pictures=pictures
                )

        await asyncio.gather(*map(visit_when_there_is_room, names))
        await browser.close()

    # Anchors are known of the pages that were visited.
    for name, links in dead_links(base, pages).items():
        wrong[name] += links
    print(f"seconds until the game can be played, at 1.6 Mbit/s: {min(waits):.1f}")
    if min(waits) > MOST_SECONDS_UNTIL_PLAY:
        wrong[names[0]].append(f"game: {min(waits):.1f} s at 1.6 Mbit/s")
    for name in names:
        print(f"{name}: {pages[name]['bytes'] // 1024} kB")
        for fault in wrong[name]:
            print(f"  {fault}")
    return sum(map(len, wrong.values()))


def main() -> None:
    """Read the arguments, check, and fail if something is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--axe", type=Path, default=AXE)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="all, if none is named"
    )
    options = parser.parse_args()
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)

    started = time.monotonic()
    axe = options.axe.read_text(encoding="utf-8")
    names = options.pages or names_of_pages()
    faults = asyncio.run(check(names, axe=axe, pictures=options.pictures))
    print(f"site: {faults} things wrong, {time.monotonic() - started:.0f} s")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
