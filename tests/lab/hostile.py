"""A page of a real browser in which untrusted text must stay text: anything that runs, requests or becomes markup is found.

`canary(browser)` is a context whose every page and frame has a canary: each call that the hostile strings make (`alert` and its
like), each report of a content security policy, each request that was not expected and each script that raises is written down.
`look` asks the page itself: attributes that would run something on a click, addresses of scripts, elements that we never make,
and how many there are of the others; a page of plain words has as many.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from faults.hostile_strings import STRINGS

PLAIN = "plain"
# Elements that run, fetch or swallow what follows and that no page of ours has; then those that each has a number of.
NEVER = (
    "base iframe frame object embed video audio track marquee template plaintext xmp isindex x "
    "foreignobject animate set mglyph portal"
).split()
COUNTED = (
    "script style link meta body title img a form input button select textarea details svg math b image noscript source"
).split()
FRAMED = "iframe[sandbox=allow-scripts]"  # how a notebook shows attention: an isolated page
INIT = """
(() => {
  window.__pwned = [];
  for (const name of ['alert', 'confirm', 'prompt', 'print']) window[name] = () => { window.__pwned.push(`${name} was called`); };
  document.addEventListener('securitypolicyviolation', ({violatedDirective: what, blockedURI: address}) => {
    window.__pwned.push(`policy: ${what} ${address}`);
  });
  window.__waiting = 0;
  const fetched = window.fetch;
  window.fetch = async (...given) => {
    const counts = !String(given[0]).includes('/stream');
    if (counts) window.__waiting += 1;
    try { return await fetched(...given); } finally { if (counts) setTimeout(() => { window.__waiting -= 1; }, 0); }
  };
})();
"""
LOOK = """
([never, counted, framed]) => {
  const counts = Object.fromEntries(counted.map((name) => [name, 0]));
  const faults = [...window.__pwned], seen = [];
  const runs = /^\\s*(javascript|vbscript|data:text|file|https?:\\/\\/(?!127\\.0\\.0\\.1))/i;
  for (const node of document.querySelectorAll('*')) {
    const name = node.localName.toLowerCase();
    if (name in counts) counts[name] += 1;
    if (never.includes(name) && !node.matches(framed)) faults.push(`<${name}>`);
    for (const {name: attribute, value} of node.attributes) {
      if (/^on|^formaction$/i.test(attribute)) faults.push(`<${name} ${attribute}=${value}>`);
      const leads = /^(href|src|action|data|xlink:href|poster|background)$/i.test(attribute);
      if (leads && runs.test(value.replace(/[\\u0000-\\u0020]/g, ''))) faults.push(`<${name} ${attribute}=${value}>`);
      if (/^(title|aria-label|placeholder|alt|value)$/.test(attribute)) seen.push(value);
    }
    if (name === 'input' || name === 'textarea') seen.push(node.value);
  }
  const text = [document.documentElement.textContent, ...seen].join('\\n');
  return {counts, faults, frames: window.frames.length, framed: document.querySelectorAll(framed).length, text};
}
"""
QUIET = "() => window.__waiting === 0 && !document.querySelector('.progress')"


def batches(strings, size):
    """So many at a time."""
    source = iter(strings)
    while taken := list(islice(source, size)):
        yield taken


def squeezed(text):
    """Without what a line or a page does to blanks."""
    return "".join(text.split())


def told(strings, text):
    """Those of the strings that can be read in a text: what can be printed, and not the few that are anywhere by chance."""
    text = squeezed(text)
    return [one for one in strings if len(squeezed(one)) > 5 and one.isprintable() and squeezed(one)[:36] in text]


# A few of each kind, which `make test` takes, and fewer where a view is slow; the slow tests take all.
FEW = [one for one in STRINGS[:66:3] if one.isprintable()] + STRINGS[66:84:3] + STRINGS[96:180:9] + STRINGS[180:360:15]
FEWEST = FEW[::4]


@dataclass
class Canary:
    """The faults found in a context, and how much was inspected."""

    context: object
    home: str  # where requests may go; "" where none may be made but for the file that is opened
    faults: list[str] = field(default_factory=list)
    pages: int = 0
    shown: set = field(default_factory=set)
    opened: set = field(default_factory=set)

    def new_page(self):
        page = self.context.new_page()
        page.set_default_timeout(30_000)
        page.on("request", lambda request: self._expected(request.url) or self.faults.append(f"a request: {request.url}"))
        page.on("dialog", lambda dialog: (self.faults.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: self.faults.append(f"a script raised: {error}"))
        page.on("popup", lambda popup: self.faults.append(f"a window: {popup.url}"))
        page.on("download", lambda download: self.faults.append(f"a download: {download.url}"))
        page.on("console", lambda message: "Content Security Policy" in message.text and self.faults.append(message.text))
        return page

    def _expected(self, url):
        own = url in self.opened or (self.home and url.startswith(self.home))
        return own or url.startswith(("data:image/", "blob:", "about:"))

    def open(self, page, path):
        """A file from the disk."""
        self.opened.add(path.as_uri())
        page.goto(path.as_uri())

    def look(self, page, strings, *, plain=None, about=""):
        """What a page shows of the strings; faults are kept with what they were found in."""
        found = page.evaluate(LOOK, [NEVER, COUNTED, FRAMED])
        self.pages += 1
        where = about or page.url[:120]
        self.faults += [f"{where}: {fault}" for fault in found["faults"]]
        if found["frames"] != found["framed"]:
            self.faults.append(f"{where}: a frame")
        other = {name: number for name, number in found["counts"].items() if number != (plain or {}).get(name, number)}
        if other:
            self.faults.append(f"{where}: {other}, with plain words {plain}")
        self.shown |= set(told(strings, found["text"]))
        return found


@contextmanager
def canary(browser, home="", **options):
    """A context with a canary; the block fails where anything happened in it."""
    context = browser.new_context(**options)
    context.add_init_script(INIT)
    made = Canary(context, home)
    try:
        yield made
    finally:
        context.close()
    assert made.faults == [], f"{len(made.faults)}: {made.faults[:10]}"
