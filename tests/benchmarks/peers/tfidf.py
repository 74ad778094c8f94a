"""scikit-learn: TF-IDF of words and characters, and a logistic regression."""

from __future__ import annotations

from peer import Answer, Peer, run


class TfIdf(Peer):
    """Word 1- and 2-grams, character 2- to 5-grams, C = 10, chosen before measuring."""

    def load(self, encoder: str, steps: int) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline, make_union

        features = make_union(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
        )
        self._model = make_pipeline(features, LogisticRegression(C=10.0, max_iter=1000))

    def build(self, texts: list[str], intents: list[str]) -> None:
        self._model.fit(texts, intents)

    def answer(self, message: str) -> Answer:
        (probabilities,) = self._model.predict_proba([message])
        best = int(probabilities.argmax())
        return Answer(str(self._model.classes_[best]), float(probabilities[best]), "matched")


run(TfIdf())
