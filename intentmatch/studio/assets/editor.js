// Completes keys, languages and names of intents in a CodeMirror editor of NiceGUI.
import * as CM from "nicegui-codemirror";

function options(words, type) {
  return words.map((label) => ({ label, type }));
}

// Where the cursor stands decides what may follow: a name after `intent:`, a key at the start of a line.
function source(lists) {
  const keys = options(lists.keys, "keyword").map((one) => ({ ...one, apply: `${one.label}: ` }));
  const names = options(lists.intents, "class");
  const kinds = options(lists.kinds, "enum");
  const languages = options(lists.languages, "constant");
  return (context) => {
    const before = context.state.doc.lineAt(context.pos).text.slice(0, context.pos - context.state.doc.lineAt(context.pos).from);
    const word = context.matchBefore(/[\w.-]*$/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    if (/\bintent:\s*[\w.-]*$/.test(before)) return { from: word.from, options: names };
    if (/\btype:\s*[\w.-]*$/.test(before)) return { from: word.from, options: kinds };
    if (/\blanguage:\s*[\w.-]*$/.test(before)) return { from: word.from, options: languages };
    if (/(^\s*|[{,]\s*)[\w.-]*$/.test(before)) return { from: word.from, options: keys };
    return null;
  };
}

// The theme of the page may change at any time, by its button or by the system.
function followTheme(element) {
  const show = () => element.setTheme(document.body.classList.contains("body--dark") ? "githubDark" : "githubLight");
  const observer = new MutationObserver(() => (element.$el.isConnected ? show() : observer.disconnect()));
  observer.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  show();
}

// What was typed since the editor is there: each text with the change that followed it. The server may ask for a change of
// a text that the letters on their way to it have changed meanwhile.
const followed = new WeakMap(); // editor to list of {doc, changes}
const MOST_REMEMBERED = 1000;

function remember(editor) {
  const list = [];
  followed.set(editor, list);
  return CM.EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    list.push({ doc: update.startState.doc, changes: update.changes });
    if (list.length > MOST_REMEMBERED) list.splice(0, MOST_REMEMBERED / 2);
  });
}

// The changes from a text until now; null if the text was never here, or too long ago.
function since(editor, text) {
  const doc = CM.Text.of(text.split("\n"));
  let changes = CM.ChangeSet.empty(editor.state.doc.length);
  if (editor.state.doc.eq(doc)) return { doc, changes };
  for (const one of [...(followed.get(editor) ?? [])].reverse()) {
    changes = one.changes.compose(changes);
    if (one.doc.eq(doc)) return { doc, changes };
  }
  return null;
}

// Lines from `start` to `end`, counted from 0, and what stands in their place.
function replaced(doc, { start, end, lines }) {
  const insert = lines.join("\n");
  if (end < doc.lines)
    return { from: doc.line(start + 1).from, to: doc.line(end + 1).from, insert: lines.length ? `${insert}\n` : "" };
  if (start === 0) return { from: 0, to: doc.length, insert };
  return { from: doc.line(start).to, to: doc.length, insert: lines.length ? `\n${insert}` : "" };
}

// Replaces lines of a text that the server knows, and keeps what was typed since. The server hears of it as of any change
// of the editor, in order. Returns whether that was possible: if not, the server asks again once it knows the text.
export function takeIn(id, text, changes) {
  const editor = getElement(id)?.editor;
  const typed = editor ? since(editor, text) : null;
  if (!typed) return false;
  const theirs = CM.ChangeSet.of(changes.map((one) => replaced(typed.doc, one)), typed.doc.length);
  editor.dispatch({ changes: theirs.map(typed.changes, true), annotations: CM.Transaction.addToHistory.of(false) });
  return true;
}

export async function complete(id, lists) {
  for (let tries = 0; tries < 100 && !getElement(id)?.editor; tries++) await new Promise((done) => setTimeout(done, 50));
  const data = [{ autocomplete: source(lists) }];
  const editor = getElement(id)?.editor;
  if (editor) followTheme(getElement(id));
  editor?.dispatch({
    effects: CM.StateEffect.appendConfig.of([CM.EditorState.languageData.of(() => data), remember(editor)]),
  });
  editor?.contentDOM.setAttribute("aria-label", lists.label);
}
