"""Messages that were not matched: kept, if the user says so, and turned into edits of the intents."""
