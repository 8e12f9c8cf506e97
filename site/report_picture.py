"""Take the picture of an audit's page that the README and the site show.

python site/report_picture.py   (needs Chromium; writes docs/audit_page.png)

The picture is the beginning of figures/dossier/11_report.html. Its file carries the
lines of text that can be read in it, so that a test can compare them with the report
and say when the picture is out of date.
"""

import io
import shutil

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

from fairlib.data import FIGURES, ROOT

REPORT = FIGURES / "dossier" / "11_report.html"
TARGET = ROOT / "docs" / "audit_page.png"
SIZE = {"width": 1000, "height": 900}
COLOURS = 128  # enough for text; the file is then a third as large
# What fits into the picture as a whole: its lines, and where the last of them ends
VISIBLE = """() => {
  const whole = [...document.querySelectorAll("h1, h2, h3, p, li, dt, dd, text")]
    .filter((one) => {
      const { top, bottom, height } = one.getBoundingClientRect();
      return height && top >= 0 && bottom <= innerHeight && one.textContent.trim();
    });
  return {
    lines: whole.map((one) => one.textContent.replace(/\\s+/g, " ").trim()),
    end: Math.max(...whole.map((one) => one.getBoundingClientRect().bottom)),
  };
}"""


def main() -> None:
    """Write the picture, with the text that can be read in it."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(REPORT.as_uri())
        visible = page.evaluate(VISIBLE)
        part = {"x": 0, "y": 0, "width": SIZE["width"], "height": visible["end"] + 12}
        shot = Image.open(io.BytesIO(page.screenshot(clip=part)))
        browser.close()

    words = PngInfo()
    words.add_itxt("Description", "\n".join(visible["lines"]))
    picture = shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(TARGET, pnginfo=words, optimize=True)
    print(f"{TARGET.relative_to(ROOT)}: {len(visible['lines'])} lines of text")


if __name__ == "__main__":
    main()
