"""Visit every page of the built site in a browser without network, at two widths, in light and dark: what is wrong?

python site/check.py [--axe FILE] [--pictures FOLDER]

Fails on a request to another server, a failed request, an error in the console, a link or anchor that leads nowhere,
what is wider than the page, mathematics that is not drawn, a picture without words, what axe calls serious or critical,
a ledger that does not sort numbers as numbers or does not filter, and a control that does not change its picture.
"""

import argparse
import asyncio
import functools
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
TOGETHER = max(2, os.cpu_count() or 2)

READY = """async () => {
  for (const image of document.images) image.loading = "eager";
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await document.fonts.ready;
}"""
FOUND = r"""() => {
  const text = document.body.cloneNode(true);
  for (const apart of text.querySelectorAll("pre, code, script, style, mjx-container, table.dataframe")) apart.remove();
  return {
    links: [...document.querySelectorAll("a[href], iframe[src]")].map((link) => link.href || link.src),
    ids: [...document.querySelectorAll("[id], a[name]")].map((place) => place.id || place.name),
    undrawn: [...document.querySelectorAll(".math")].filter((one) => !one.querySelector("mjx-container")).length
      + document.querySelectorAll("mjx-merror, [data-mml-node=merror]").length,
    raw: text.textContent.match(/\\[a-zA-Z]{3,}/g) || [],
    wordless: [...document.images].filter((image) => !image.alt.trim() && image.getAttribute("role") !== "presentation")
      .map((image) => image.src),
    broken: [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src),
  };
}"""
WIDER = """() => {
  const clipped = (one) => one && one !== document.body
    && (getComputedStyle(one).overflowX !== "visible" || clipped(one.parentElement));
  if (document.documentElement.scrollWidth <= innerWidth + 1) return [];
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !clipped(one.parentElement))
    .slice(0, 3).map((one) => `${one.tagName}.${one.className.baseVal ?? one.className}`).concat("page");
}"""
BARRIERS = """(rules) => axe.run(document, {
  runOnly: rules || ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
  resultTypes: ["violations", "incomplete"], iframes: false, preload: false,
}).then(({violations, incomplete}) => {
  const unseen = ({any}) => any.some(({data}) => data?.messageKey === "equalRatio"); // text of its ground's own colour
  const hidden = incomplete.map((rule) => ({...rule, nodes: rule.nodes.filter(unseen)}));
  return [...violations, ...hidden].filter(({nodes}) => nodes.length)
    .map(({id, impact, nodes}) => [impact, id, nodes.length, nodes[0].html.slice(0, 160)]);
})"""
OF_LOOKS = [
    "color-contrast",
    "link-in-text-block",
    "scrollable-region-focusable",
    "target-size",
]
RULES = {
    (1280, "light"): None,
    (390, "dark"): OF_LOOKS,
}  # all at first, then those whose answer depends on the look


LEDGER = """() => {
  const table = document.getElementById("ledger-table"), form = document.getElementById("ledger-filters");
  const heading = [...table.tHead.rows[0].cells].find((cell) => cell.textContent.trim() === "printed");
  const place = heading.cellIndex, wrong = [];
  const numbers = () => [...table.rows].slice(1).map((row) => row.cells[place].textContent.trim())
    .filter((text) => /^-?[\\d.,]+$/.test(text)).map((text) => Number(text.replaceAll(",", "")));
  for (const [order, sign] of [["ascending", 1], ["descending", -1]]) {
    heading.querySelector("button").click();
    const found = numbers();
    if (heading.getAttribute("aria-sort") !== order || found.some((one, k) => k && sign * (one - found[k - 1]) < 0))
      wrong.push(`ledger: not ${order}`);
  }
  form.elements.paper.value = "Paper 2";
  form.elements.status.value = "differs";
  form.dispatchEvent(new Event("change"));
  const left = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  if (!left.length || left.some(({dataset}) => dataset.paper !== "Paper 2" || dataset.status !== "differs"))
    wrong.push("ledger: not filtered");
  form.reset();
  form.dispatchEvent(new Event("change"));
  return wrong;
}"""
FRAMES = """async () => {
  const wrong = [];
  for (const form of document.querySelectorAll("form.frames")) {
    const image = form.parentNode.querySelector("img"), table = form.parentNode.querySelector(".chosen");
    const tables = new Set();
    if (form.hidden) wrong.push("frames: no controls");
    for (const field of form.querySelectorAll("input, select")) {
      const start = field.value, pictures = new Set(), words = new Set();
      const count = field.options ? field.options.length : Number(field.max) + 1;
      for (const value of [...Array(count).keys(), start]) {
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        await image?.decode().catch(() => wrong.push(`frames: not a picture: ${image.src}`));
        if (image) pictures.add(image.src), words.add(image.alt);
        else tables.add(table.textContent.trim());
      }
      const label = field.labels[0].querySelector("span > span").textContent;
      if (image && (pictures.size < count || words.size < count)) wrong.push(`frames: not changed by ${label}`);
    }
    if (!image && (tables.size < 2 || tables.has(""))) wrong.push("frames: tables do not change, or are empty");
  }
  return wrong;
}"""


def serve(folder: Path) -> str:
    """Serve a folder on a free port of this machine, and return its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


async def visit(
    browser, base: str, name: str, axe: str, pictures: Path | None
) -> tuple[dict, list[str]]:
    """Visit one page in all looks; return what it holds, and what is wrong with it."""
    wrong, weight = [], []
    context = await browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    page = await context.new_page()

    async def let_pass(route):
        if route.request.url.startswith((base, "data:", "blob:")):
            return await route.continue_()
        wrong.append(f"asks another server: {route.request.url}")
        await route.abort()

    await context.route("**/*", let_pass)
    page.on(
        "console",
        lambda said: (
            wrong.append(f"console: {said.text[:200]}")
            if said.type == "error"
            else None
        ),
    )
    page.on("pageerror", lambda error: wrong.append(f"error: {str(error)[:200]}"))
    page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
    page.on(
        "response",
        lambda answer: (
            wrong.append(f"{answer.status}: {answer.url}")
            if answer.status >= 400
            else None
        ),
    )
    page.on("requestfinished", lambda request: weight.append(request))
    await page.goto(base + name, wait_until="load")
    await page.evaluate(READY)
    found = await page.evaluate(FOUND)
    for kind in ("undrawn", "raw", "wordless", "broken"):
        if found[kind]:
            wrong.append(f"{kind}: {found[kind]}")
    if name == "ledger.html":
        wrong += await page.evaluate(LEDGER)
    await page.evaluate(axe)
    for width, scheme in LOOKS:
        await page.set_viewport_size({"width": width, "height": 900})
        await page.emulate_media(color_scheme=scheme)
        await page.wait_for_timeout(
            400
        )  # the theme waits 300 ms before it looks again at what scrolls
        if wider := await page.evaluate(WIDER):
            wrong.append(f"{width} {scheme}: wider than the page: {wider}")
        if (width, scheme) in RULES:
            for impact, rule, count, example in await page.evaluate(
                BARRIERS, RULES[width, scheme]
            ):
                if impact in ("serious", "critical"):
                    wrong.append(
                        f"{width} {scheme}: axe, {impact}: {rule}, {count} times, as in {example}"
                    )
        if pictures:
            where = (
                pictures
                / f"{name.replace('/', '_').removesuffix('.html')}_{width}_{scheme}.png"
            )
            await page.screenshot(path=where, full_page=True)
    found["bytes"] = sum(
        [(await request.sizes())["responseBodySize"] for request in weight]
    )
    wrong += await page.evaluate(FRAMES)
    await context.close()
    return found, wrong


def dead_links(base: str, pages: dict[str, dict]) -> dict[str, list[str]]:
    """Return, for each page, its links within the site whose file or anchor there is not."""
    dead = {}
    for name, found in pages.items():
        for link in set(found["links"]):
            address, anchor = urldefrag(link)
            target = unquote(address.removeprefix(base)).split("?")[0]
            if not address.startswith(base):
                continue
            target = target or "index.html"
            known = pages.get(target, {}).get("ids", [])
            if not (SITE / target).is_file() or (
                anchor and target in pages and unquote(anchor) not in known
            ):
                dead.setdefault(name, []).append(
                    f"leads nowhere: {link.removeprefix(base)}"
                )
    return dead


async def check(axe: str, pictures: Path | None) -> int:
    """Visit all pages, a few at a time; print what is wrong, and return how many things are."""
    base, names = (
        serve(SITE),
        sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html")),
    )
    names = [name for name in names if not name.startswith("_static/")]
    room, pages, wrong = asyncio.Semaphore(TOGETHER), {}, {}
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    async with async_playwright() as tools:
        browser = await tools.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )

        async def one(name):
            async with room:
                pages[name], wrong[name] = await visit(
                    browser, base, name, axe, pictures
                )

        await asyncio.gather(*map(one, names))
        await browser.close()
    for name, links in dead_links(base, pages).items():
        wrong[name] += links
    for name in names:
        print(
            f"{name}: {pages[name]['bytes'] // 1024} kB"
            + "".join(f"\n  {each}" for each in wrong[name])
        )
    return sum(map(len, wrong.values()))


def main() -> None:
    """Read the arguments, check, and fail if something is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--axe", type=Path, default=AXE)
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    if asked.pictures:
        asked.pictures.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    found = asyncio.run(check(asked.axe.read_text(encoding="utf-8"), asked.pictures))
    print(f"site: {found} things wrong, {time.monotonic() - started:.0f} s")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
