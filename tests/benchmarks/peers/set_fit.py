"""SetFit: contrastive fine-tuning of the shared weights for at most `steps` steps of 16 pairs, then its own head."""

from __future__ import annotations

from peer import Answer, Peer, run


class SetFitPeer(Peer):
    """With default settings except the cap: the default is one epoch over all pairs, thousands of steps."""

    def load(self, encoder: str, steps: int) -> None:
        import setfit

        self._package, self._steps = setfit, steps
        self._model = setfit.SetFitModel.from_pretrained(encoder)

    def build(self, texts: list[str], intents: list[str]) -> None:
        from datasets import Dataset

        self._model.labels = sorted(set(intents))
        numbers = {intent: number for number, intent in enumerate(self._model.labels)}
        rows = Dataset.from_dict({"text": texts, "label": [numbers[intent] for intent in intents]})
        arguments = self._package.TrainingArguments(
            max_steps=self._steps, batch_size=16, seed=0, report_to="none", save_strategy="no", output_dir="out"
        )
        self._package.Trainer(model=self._model, args=arguments, train_dataset=rows).train()

    def answer(self, message: str) -> Answer:
        (probabilities,) = self._model.predict_proba([message])
        best = int(probabilities.argmax())
        return Answer(self._model.labels[best], float(probabilities[best]), "matched")


run(SetFitPeer())
