// Microsoft's own parser of .lu files. It reads a JSON list of {name, text, utterances, patterns} and checks that each
// text is an app with these utterances and so many patterns.
const { readFileSync } = require("fs");
const { V2 } = require("@microsoft/bf-lu/lib/parser");

async function main() {
  const pages = JSON.parse(readFileSync(process.argv[2], "utf8"));
  let failed = 0;
  for (const page of pages) {
    const wrong = await check(page).catch((error) => String(error.text || error.message || error));
    if (wrong) console.error(`${page.name}: ${wrong}`);
    failed += wrong ? 1 : 0;
  }
  const { version } = require("@microsoft/bf-lu/package.json");
  console.log(`bf-lu ${version}: ${pages.length - failed} of ${pages.length} exported .lu files`);
  process.exit(failed ? 1 : 0);
}

async function check(page) {
  const app = await V2.LuisBuilder.fromLUAsync([new V2.LU(page.text, `${page.name}.lu`)]);
  app.validate();
  const found = new Set(app.utterances.map((each) => each.text));
  const lost = page.utterances.filter((text) => !found.has(text));
  if (lost.length) return `${lost.length} utterances are read otherwise, such as ${JSON.stringify(lost[0])}`;
  if (found.size !== new Set(page.utterances).size) return `there are ${found.size} utterances`;
  if (app.patterns.length !== page.patterns) return `there are ${app.patterns.length} patterns, not ${page.patterns}`;
  return "";
}

main();
