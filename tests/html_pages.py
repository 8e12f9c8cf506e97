"""What a browser would see of a page, and names that try to become part of it."""

from html.parser import HTMLParser

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table><h1>",
    "' onmouseover='alert(1)",
    "&lt;b&gt; & <b>",
    "</style><script>",
    "<!-- ",
    "javascript:alert(1)",
]
FRAME = ["html", "head", "meta", "title", "style", "body", "main"]
TEXT = [
    "div",
    "h1",
    "h2",
    "h3",
    "p",
    "ul",
    "li",
    "ol",
    "dl",
    "dt",
    "dd",
    "strong",
    "span",
    "details",
    "summary",
]
TABLE = ["table", "caption", "thead", "tbody", "tr", "th", "td"]
ELEMENTS = {
    *FRAME,
    *TEXT,
    *TABLE,
    "svg",
    "g",
    "text",
    "rect",
    "line",
    "polyline",
    "circle",
}
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """What a browser would see: nested elements, and the text between them."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(html)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]
