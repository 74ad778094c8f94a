// Sends the keys that a screen has listed to the server, fetches what other screens need, and loads a page anew that the
// server does not know any more.
// Everything else of the pages is NiceGUI's.
const PAUSE = 1000; // milliseconds in which the second key of a pair such as "g t" counts
let first = "";
let since = 0;

function editing(element) {
  return element && (/^(input|select|textarea)$/i.test(element.tagName) || element.isContentEditable);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (editing(document.activeElement) || document.querySelector(".q-dialog")) return;
  const list = document.getElementById("studio-keys")?.dataset.keys?.split("\n") ?? [];
  const pair = event.timeStamp - since < PAUSE ? `${first} ${event.key}` : "";
  const keys = list.includes(pair) ? pair : event.key;
  if (list.includes(keys)) {
    // A focused button takes Enter and space itself.
    if (/^(Enter| )$/.test(event.key) && document.activeElement?.closest("button, a")) return;
    event.preventDefault();
    emitEvent("studio_keys", keys);
    first = "";
  } else if (list.some((one) => one.startsWith(`${event.key} `))) {
    first = event.key;
    since = event.timeStamp;
  }
});

const QUIET = 2000; // milliseconds after the page is there
addEventListener("load", () => setTimeout(() => {
  for (const { content } of document.querySelectorAll("meta[name=studio-prefetch]")) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "prefetch", href: content }));
  }
}, QUIET));

// After a restart of the server the session is unknown, and no socket opens.
async function loadAgain() {
  try {
    const answer = await fetch(new URL("../session", import.meta.url), { cache: "no-store" });
    if (answer.ok && (await answer.text()) === "unknown") location.reload();
  } catch {
    // The server is still away: the socket tries again, and then this.
  }
}

const waiting = setInterval(() => {
  if (!window.socket) return;
  clearInterval(waiting);
  window.socket.on("connect_error", loadAgain);
  // The server closes a page that its visitor may not see any more.
  window.socket.on("disconnect", (reason) => reason === "io server disconnect" && location.reload());
}, 50);
