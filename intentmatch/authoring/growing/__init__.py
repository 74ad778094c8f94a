"""Lines that a chat model proposes for a registry, filtered by what they would do to its answers.

- `tasks` says what to ask for: paraphrases, translations to missing languages, lines from the inbox.
- `writer` asks the chat model. `form` and `line_filter` refuse lines; `trial` refuses those that make answers wrong.
- `grow` does all of it.
"""
