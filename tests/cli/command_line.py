"""Small registries, and a command run in-process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from intentmatch.cli.commands import cli

SHOP = """\
intents:
  status:
    title: Where is it?
    response: {en: On its way., de: Ist unterwegs.}
    utterances:
      en: [where is my order, track my parcel, has it been shipped yet]
      de: [wo ist meine Bestellung, wann kommt mein Paket]
  cancel:
    title: Cancel it
    utterances: {en: [cancel my order, I do not want it any more], de: [Bestellung stornieren]}
"""
BOOKING = """\
slots:
  city: {values: {Munich: {de: [München]}, Rome: [Roma]}}
  code: {pattern: '[A-Z]{2}\\d{4}'}
intents:
  book:
    response: {en: Booked.}
    slots:
      city: {required: true, ask: {en: In which city?, de: In welcher Stadt?}}
      guests: {type: number}
      wish: {type: any}
    utterances:
      en: ["book a table [for {guests}] [in {city}] [{code}]", "book a table and {wish}"]
      de: ["einen Tisch [für {guests}] [in {city}] buchen"]
  greet: {utterances: {en: [hello]}}
"""


def run(*words: str, stdin: str | None = None) -> Result:
    """Run `intentmatch WORDS`; an exception that is no exit fails the test."""
    return CliRunner().invoke(cli, words, input=stdin, catch_exceptions=False)
