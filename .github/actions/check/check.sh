#!/usr/bin/env bash
# The gates of the action: INTENTS is the folder, STRICT true or false, MIN_ACCURACY a percentage or empty.
set -euo pipefail
fail_on=error
[ "${STRICT:-false}" = true ] && fail_on=warning
intentmatch validate "$INTENTS" --format github
intentmatch lint "$INTENTS" --format github --fail-on "$fail_on"
[ -z "${MIN_ACCURACY:-}" ] || intentmatch eval "$INTENTS" --fail-under "$MIN_ACCURACY"
