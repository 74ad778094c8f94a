"""HTML pages without scripts, under a policy that lets them load nothing but their own style."""

from __future__ import annotations

import base64
import hashlib
from html import escape

from starlette.responses import HTMLResponse

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: #0b62c4; }
@media (prefers-color-scheme: dark) { :root { --link: #7db7ff; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 3rem; } h3 { margin: 0; font-size: 1.05rem; }
a { color: var(--link); } code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .7rem 1rem; overflow-x: auto; border-radius: 6px; }
section { border: 1px solid var(--line); border-radius: 8px; padding: 1rem; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-top: 1px solid var(--line); }
.verb { font-weight: 700; } .note { opacity: .75; }
"""
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    f"img-src data:; style-src 'sha256-{_DIGEST}'"
)


def page(title: str, body: str) -> HTMLResponse:
    """Return a page. `body` is HTML; `title` is text."""
    # The empty icon keeps browsers from asking for /favicon.ico.
    content = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )
    return HTMLResponse(content, headers={"Content-Security-Policy": _POLICY})
