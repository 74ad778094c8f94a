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

export async function complete(id, lists) {
  for (let tries = 0; tries < 100 && !getElement(id)?.editor; tries++) await new Promise((done) => setTimeout(done, 50));
  const data = [{ autocomplete: source(lists) }];
  const editor = getElement(id)?.editor;
  if (editor) followTheme(getElement(id));
  editor?.dispatch({ effects: CM.StateEffect.appendConfig.of(CM.EditorState.languageData.of(() => data)) });
  editor?.contentDOM.setAttribute("aria-label", lists.label);
}
