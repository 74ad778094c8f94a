"""Match intents inside your own program.

Run it: python examples/embed.py
"""

from pathlib import Path

from intentmatch import Matcher

matcher = Matcher.load(Path(__file__).parent.parent / "intents")

for message in ("wo ist mein Paket?", "siparişimi iptal et", "and where is my refund", "write me a poem about the sea"):
    result = matcher.match(message)
    print(f"> {message}")
    if result.verdict == "matched":
        print(result.response)
    elif result.verdict == "ambiguous":
        print("Did you mean:", " / ".join(rival.title or rival.intent for rival in result.rivals))
    else:
        print("Sorry, that is beyond me.")
    print(result.explain(), end="\n\n")
