"""`intentmatch adapt`: train an encoder or a reranker on the utterances of a registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import OUTPUT_FOLDER, set_option, settings_from, takes_intents
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import InputError, IntentMatchError

if TYPE_CHECKING:
    from intentmatch.adaptation import AdaptedEncoder, AdaptedReranker, BeforeAfter, Proof


_LOSSES = ("contrastive", "multiple-negatives", "triplet", "softmax")
"""`intentmatch.adaptation.recipe.LOSSES`, which takes a second to import."""


@cli.command()
@takes_intents()
@click.option(
    "--encoder",
    "-e",
    metavar="ENCODER",
    shell_complete=completion.encoders,
    help="Encoder to train, sentence_transformer:NAME_OR_FOLDER.  [default: the setting `encoder`]",
)
@click.option("--reranker", is_flag=True, help="Train a cross-encoder for messages in doubt instead.")
@click.option(
    "--base",
    metavar="MODEL",
    help="Cross-encoder to start from, with --reranker; without it, from the weights of the encoder.",
)
@click.option("--loss", type=click.Choice(_LOSSES), help="Loss of the encoder's training.  [default: contrastive]")
@click.option("--output", "-o", "target", required=True, type=OUTPUT_FOLDER, help="New folder for the model.")
@click.option("--folds", type=click.IntRange(2), default=3, show_default=True, help="Trainings that prove the model.")
@click.option("--steps", type=click.IntRange(1), help="Steps of a training.  [default: 300]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of batches and folds.")
@click.option("--work", type=OUTPUT_FOLDER, help="Folder for the state of a run; OUTPUT.work if not given.")
@set_option
@quiet_option
def adapt(
    intents: str,
    encoder: str | None,
    reranker: bool,
    base: str | None,
    loss: str | None,
    target: Path,
    folds: int,
    steps: int | None,
    seed: int,
    work: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Train a model on your own utterances.

    The encoder learns to put utterances of one intent close together, and away from other intents and `not:` lines.
    Then it proves itself: in each fold a model is trained without some utterances and some intents, and compared with
    the unchanged encoder. The model is written only if it answers more of them right, finds as many intents, tells
    other messages apart as well, and has forgotten no language that the registry lacks.

    --loss is what the training minimises: contrastive (supervised contrastive learning), multiple-negatives (ranking
    with in-batch negatives), triplet (over all triplets of the batch) or softmax (over the intents).

    With --reranker, a cross-encoder learns which pairs of utterances are of one intent, from the pairs that the bot
    confuses most. It is written only if more messages in doubt are answered right with it than without it.

    A GPU is used if torch finds one. An interrupted run continues if it is started again with the same options.

    \b
    Examples:
      intentmatch adapt shop/ --encoder sentence_transformer:MODEL -o adapted
      intentmatch match -i shop/ --set encoder=sentence_transformer:adapted "hi"
      intentmatch export-onnx adapted -o adapted-onnx
      intentmatch adapt --reranker --encoder sentence_transformer:adapted -o pairs

    \b
    Exit codes: 0 the model was written;
      1 it is not better, and nothing was written.
    """
    from intentmatch.adaptation import EncoderRecipe, RerankerRecipe, adapt_encoder, adapt_reranker
    from intentmatch.core.settings import resolve
    from intentmatch.registry import is_yaml, read_registry

    if base is not None and not reranker:
        raise click.UsageError("--base needs --reranker.")
    if loss is not None and reranker:
        raise click.UsageError("--loss is for encoders: a reranker is trained on pairs with cross-entropy.")
    if not is_yaml(intents):
        raise InputError(f"{intents} is not YAML: train on the folder that the artefact was built from")
    registry = read_registry(intents)
    explicit = settings_from(settings) | ({"encoder": encoder} if encoder else {})
    resolved = resolve(explicit, registry=registry.settings, locations=registry.setting_locations)
    # Without --steps, each of the two recipes has a default of its own.
    chosen: dict[str, Any] = {"seed": seed} | ({} if steps is None else {"steps": steps})
    adapted: AdaptedEncoder | AdaptedReranker
    with progress.shown():
        if reranker:
            pair_recipe = RerankerRecipe(**chosen)
            adapted = adapt_reranker(registry, resolved, target, pair_recipe, base=base, folds=folds, work=work)
        else:
            recipe = EncoderRecipe(**chosen, loss=loss or _LOSSES[0])
            adapted = adapt_encoder(registry, resolved, target, recipe, folds=folds, work=work)
    # Before any error: whoever is refused the model wants to see by how much.
    _show(adapted.proof)
    if adapted.folder is None and reranker:
        raise IntentMatchError("messages in doubt are answered no better with the reranker, so nothing was written")
    if adapted.folder is None:
        lost = [row.name for row in adapted.proof.rows if row.lost]
        why = f"the model lost something that the encoder could do before ({', '.join(lost)})" if lost else None
        raise IntentMatchError(f"{why or 'no more messages are answered right than before'}, so nothing was written")
    if adapted.proof.perhaps_chance:
        output.say("  The gain is within its standard error: it may be chance.")
    used = f"reranker=cross_encoder:{target}" if reranker else f"encoder=sentence_transformer:{target}"
    output.say(f"{target}: use it with the setting {used}")


def _show(proof: Proof) -> None:
    output.table(
        ["held out", "before", "after", "change"],
        [[row.name, f"{row.before:.3f}", f"{row.after:.3f}", _change(row)] for row in proof.rows],
    )
    output.say(
        f"  {proof.messages:,} utterances and {proof.out_of_scope:,} of intents that were left out, "
        f"in {proof.folds} folds."
    )


def _change(row: BeforeAfter) -> str:
    change = f"{row.after - row.before:+.3f}"
    return change if row.error is None else f"{change} ± {row.error:.3f}"
