"""Train static encoders and the networks that read: `distill` and what begins with it, and `measure-languages`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import (
    FILE,
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    set_option,
    settings_from,
)
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option

if TYPE_CHECKING:
    from intentmatch.core.settings import Settings
    from intentmatch.core.types import Encoder
    from intentmatch.distill.corpus import Corpus, StepProgress

_teacher_option = click.option(
    "--teacher",
    "-t",
    required=True,
    metavar="ENCODER",
    shell_complete=completion.encoders,
    help="Encoder to learn from, as in `encoder`.",
)
_recipe_option = click.option("--recipe", type=FILE, help="YAML with training options that differ from the defaults.")


def takes_corpus(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name the files of a corpus."""
    for name, required, what in (
        ("--held-out", False, "Lines of language, English, translation to leave out."),
        ("--english", False, "Lines of further English sentences."),
        ("--pairs", True, "Lines of English, language, translation."),
    ):
        command = click.option(name, multiple=True, required=required, type=FILE, help=what)(command)
    return command


@cli.command()
@_teacher_option
@takes_corpus
@_recipe_option
@click.option("--output", "-o", "target", required=True, type=OUTPUT_FOLDER, help="Model folder to write.")
@click.option("--work", type=OUTPUT_FOLDER, help="Folder for intermediate results; OUTPUT.work if not given.")
@set_option
@quiet_option
def distill(
    teacher: str,
    pairs: tuple[Path, ...],
    english: tuple[Path, ...],
    held_out: tuple[Path, ...],
    recipe: Path | None,
    target: Path,
    work: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Train a small static encoder from a large one.

    The new encoder maps a sentence and its translations to the vector that the teacher gives the English sentence.
    Files are tab-separated UTF-8, plain or compressed (.xz, .gz, .bz2); one more column may name the source of a line.
    --pairs, --english and --held-out are repeatable. An interrupted run continues if it is started again with the same
    options. A GPU is used if torch finds one.

    \b
    Example:
      intentmatch distill -t onnx:minilm --pairs pairs.tsv -o my-encoder
      intentmatch match --set encoder=static:my-encoder "wo ist mein Paket?"
    """
    from intentmatch.core.settings import resolve
    from intentmatch.distill import Recipe, read_recipe
    from intentmatch.distill import distill as train

    chosen = read_recipe(recipe, Recipe) if recipe else Recipe()
    resolved = resolve({**settings_from(settings), "encoder": teacher})
    with progress.shown() as update:
        encoder, corpus = _teacher_and_corpus(resolved, pairs, english, held_out, update)
        folder = work or target.with_name(f"{target.name}.work")
        train(corpus, encoder, target, chosen, work=folder, device=resolved.device, progress=update)
    size = sum(file.stat().st_size for file in target.iterdir()) / 1e6
    output.say(f"{target}: {size:.1f} MB. Use it with the setting encoder=static:{target}")


def _teacher_and_corpus(
    settings: Settings,
    pairs: Sequence[Path],
    english: Sequence[Path],
    held_out: Sequence[Path],
    update: StepProgress,
) -> tuple[Encoder, Corpus]:
    """Load the teacher, which the settings name, and read the text to train on."""
    from intentmatch.distill import read_corpus
    from intentmatch.encoders import load_encoder

    update("loading the teacher", 0, None)
    encoder = load_encoder(settings)
    corpus = read_corpus(pairs, english, held_out=held_out, progress=update)
    update(f"{len(corpus.sentences):,} English sentences, {len(corpus.translations):,} pairs", 0, None)
    return encoder, corpus


@cli.command("distill-context")
@click.argument("model", type=OUTPUT_FOLDER)
@_teacher_option
@takes_corpus
@_recipe_option
@click.option("--work", type=OUTPUT_FOLDER, help="Folder for intermediate results; MODEL.work if not given.")
@set_option
@quiet_option
def distill_context(
    model: Path,
    teacher: str,
    pairs: tuple[Path, ...],
    english: tuple[Path, ...],
    held_out: tuple[Path, ...],
    recipe: Path | None,
    work: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Train the network of a static encoder.

    MODEL is the folder of a static encoder, such as `distill` writes. The network is written to context.safetensors in
    it. From then on, the vector of a text depends on the order of its words, and greetings, signatures, numbers, markup
    and emoji around a request barely change it. Run `measure-languages` afterwards, because the vectors are others.
    Files are those of `distill`. An interrupted run continues if it is started again with the same options.

    \b
    Example:
      intentmatch distill-context my-encoder -t onnx:minilm --pairs pairs.tsv
    """
    from intentmatch.core.settings import resolve
    from intentmatch.distill import ContextRecipe, read_recipe
    from intentmatch.distill import distill_context as train

    chosen = read_recipe(recipe, ContextRecipe) if recipe else ContextRecipe()
    resolved = resolve({**settings_from(settings), "encoder": teacher})
    with progress.shown() as update:
        encoder, corpus = _teacher_and_corpus(resolved, pairs, english, held_out, update)
        folder = work or model.with_name(f"{model.name}.work")
        file = train(corpus, encoder, model, chosen, work=folder, progress=update)
    output.say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


@cli.command("distill-acts")
@click.option("--ordinary", multiple=True, required=True, type=FILE, help="Lines of messages that ask for something.")
@click.option("--labelled", multiple=True, type=FILE, help="Lines of further messages with their acts.")
@click.option("--start", type=FILE, help="Network that stays as it is: the acts that it does not know are added to it.")
@_recipe_option
@click.option("--output", "-o", "target", required=True, type=OUTPUT_FILE, help="File of the network to write.")
@quiet_option
def distill_acts(
    ordinary: tuple[Path, ...],
    labelled: tuple[Path, ...],
    start: Path | None,
    recipe: Path | None,
    target: Path,
) -> None:
    """Train the network that reads what a message does.

    It learns from the labelled messages of this package, in many languages, and from the files: JSON lines with `text`,
    `lang` and, with --labelled, `act` (null for a request). The embedded network is in
    intentmatch/reading/dialogue_acts.safetensors; its card is beside it. Takes some minutes on one core.

    \b
    Example:
      intentmatch distill-acts --ordinary log.jsonl -o acts.safetensors
    """
    from intentmatch.distill import ActsRecipe, read_messages, read_recipe, save_network, train_acts
    from intentmatch.distill.acts import read_labelled, read_ordinary
    from intentmatch.distill.context_network import read_network

    chosen = read_recipe(recipe, ActsRecipe) if recipe else ActsRecipe()
    known = read_network(start) if start else None
    with progress.shown() as update:
        messages = [
            *read_messages("train"),
            *read_ordinary(ordinary, chosen.most_of_a_file, chosen.seed),
            *read_labelled(labelled),
        ]
        update(f"{len(messages):,} messages", 0, None)
        save_network(target, train_acts(messages, chosen, start=known, progress=update))
    output.say(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


@cli.command("distill-answers")
@_recipe_option
@click.option("--output", "-o", "target", required=True, type=OUTPUT_FILE, help="File of the network to write.")
@quiet_option
def distill_answers(recipe: Path | None, target: Path) -> None:
    """Train the network that reads a yes or a no.

    It learns from the answers of this package, in many languages. The embedded network is in
    intentmatch/reading/answers.safetensors; its card is beside it. Takes some minutes on one core.

    \b
    Example:
      intentmatch distill-answers -o answers.safetensors
    """
    from intentmatch.distill import AnswersRecipe, read_answers, read_recipe, save_network, train_answers

    chosen = read_recipe(recipe, AnswersRecipe) if recipe else AnswersRecipe()
    with progress.shown() as update:
        answers = read_answers("train")
        update(f"{len(answers):,} answers", 0, None)
        save_network(target, train_answers(answers, chosen, progress=update))
    output.say(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


@cli.command("distill-values")
@click.option("--output", "-o", "target", required=True, type=OUTPUT_FILE, help="File of the weights to write.")
@quiet_option
def distill_values(target: Path) -> None:
    """Train the weights that tell if an answer gives a value.

    They learn from the answers with values of this package, in many languages, and from the network of `distill-acts`.
    The embedded ones are in intentmatch/reading/given_values.safetensors; their card is beside it. Takes seconds.

    \b
    Example:
      intentmatch distill-values -o values.safetensors
    """
    from intentmatch.distill import read_values, save_network, train_values

    save_network(target, train_values(read_values("train")))
    output.say(f"{target}: {target.stat().st_size / 1e3:.0f} kB")


@cli.command("measure-languages")
@click.argument("model", type=OUTPUT_FOLDER)
@takes_corpus
@click.option(
    "--kind",
    type=click.Choice(["static", "onnx", "sentence_transformer"]),
    default="static",
    show_default=True,
    help="Kind of the encoder.",
)
@quiet_option
def measure_languages(
    model: Path, pairs: tuple[Path, ...], english: tuple[Path, ...], held_out: tuple[Path, ...], kind: str
) -> None:
    """Measure the languages of an encoder.

    MODEL is the folder of the encoder. The distances of translations in parallel text are written to
    translations.safetensors in it: from then on, messages in languages that a registry does not have get a calibration
    of their own. For the embedded encoder, the languages of its tokenizer's pieces are written to languages.safetensors
    too. Files are those of `distill`.

    \b
    Examples:
      intentmatch measure-languages my-encoder --pairs pairs.tsv
      intentmatch measure-languages my-model --kind onnx --pairs pairs.tsv
    """
    from intentmatch.core.settings import resolve
    from intentmatch.distill import measure, read_corpus
    from intentmatch.encoders import load_encoder

    encoder = load_encoder(resolve({"encoder": f"{kind}:{model}"}))
    with progress.shown() as update:
        corpus = read_corpus(pairs, english, held_out=held_out, progress=update)
        update(f"{len(corpus.sentences):,} English sentences, {len(corpus.translations):,} pairs", 0, None)
        files = measure(corpus, encoder, model, update)
    for file in files:
        output.say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
