// NLP.js: bag of words and a perceptron, with its own threshold of 0.5. Asked and timed as `peer.py` asks the others.
const fs = require("fs");

const task = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));

function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function main() {
  const times = [processorTime()];
  const { NlpManager } = require("node-nlp");
  const manager = new NlpManager({ languages: ["en"], nlu: { log: false }, autoSave: false, forceNER: false });
  times.push(processorTime());
  for (const [text, intent] of task.train) manager.addDocument("en", text, intent);
  await manager.train();
  times.push(processorTime());
  const answers = [];
  const milliseconds = [];
  for (const message of task.messages) {
    const began = processorTime();
    const found = await manager.process("en", message);
    milliseconds.push(processorTime() - began);
    const first = (found.classifications || []).find((one) => one.intent !== "None");
    answers.push([first ? first.intent : null, first ? first.score : 0, found.intent === "None" ? "out_of_scope" : "matched"]);
  }
  const said = {
    load_seconds: (times[1] - times[0]) / 1000,
    build_seconds: (times[2] - times[1]) / 1000,
    milliseconds,
    answers,
    peak_mb: process.resourceUsage().maxRSS / 1000,
  };
  fs.writeFileSync(process.argv[3], JSON.stringify(said));
}

main();
