"""Pages of a few lines without a script: the sign-in page, and pages that say why there is no other."""

from __future__ import annotations

import secrets
from html import escape

from starlette.responses import HTMLResponse

# With no referrer at all, browsers say `Origin: null` when a form is sent.
SAME_SITE = {"referrer-policy": "same-origin"}

_STYLE = """
:root { color-scheme: light dark; --back: #f6f7f9; --paper: #fff; --text: #1d2330; --line: #b9c0cc; --primary: #2f5fd0;
  --on: #fff; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --back: #14171c; --paper: #1c2027; --text: #e6e9ef; --line: #4b5563;
  --primary: #8fb0ff; --on: #10131a; --bad: #ff9d94; } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
main { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 32px;
  width: min(360px, 80vw); }
h1 { font-size: 22px; margin: 0 0 4px; } p { margin: 0 0 16px; } .bad { color: var(--bad); }
label { display: block; font-weight: 600; margin-bottom: 4px; }
input, button { box-sizing: border-box; width: 100%; font: inherit; padding: 10px; border-radius: 8px; }
input { border: 1px solid var(--line); background: transparent; color: inherit; }
button { margin-top: 16px; font-weight: 600; border: 0; background: var(--primary); color: var(--on); cursor: pointer; }
:focus-visible { outline: 3px solid var(--primary); outline-offset: 2px; }
"""


def plain_page(title: str, content: str, status: int = 200) -> HTMLResponse:
    """Return a page whose `content` is HTML of ours."""
    # The only style that this page may have: nothing in it can add another.
    nonce = secrets.token_urlsafe(16)
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # An empty icon, since browsers would ask for one that needs a session.
        f'<title>{title} · intentmatch</title><link rel="icon" href="data:,">'
        f'<style nonce="{nonce}">{_STYLE}</style></head>'
        f"<body><main><h1>intentmatch studio</h1>{content}</main></body></html>\n"
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; img-src data:; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    headers = {"content-security-policy": policy, "cache-control": "no-store", **SAME_SITE}
    return HTMLResponse(page, status, headers=headers)


def sign_in_page(action: str, problem: str, status: int = 200) -> HTMLResponse:
    """Return the form that sends a key to the address `action`, below a problem if there is one."""
    message = f'<p class="bad" role="alert">{escape(problem)}</p>' if problem else ""
    content = (
        f'<p>Sign in with a key of this server.</p>{message}<form method="post" action="{escape(action)}">'
        '<label for="key">Key</label>'
        '<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>'
        '<button type="submit">Sign in</button></form>'
    )
    return plain_page("Sign in", content, status)
