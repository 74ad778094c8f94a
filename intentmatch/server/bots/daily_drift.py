"""The daily check of a bot for drift: whether users ask for something else than in the weeks before.

It reads the random sample of all answers in the inbox (`inbox_sample`). Of all workers and replicas that share the
inbox, one does the check; all report what it found.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from intentmatch.core.errors import InputError, IntentMatchError, UnavailableError
from intentmatch.evaluation.drift import Answered, Drift, answered, find_drift, split_last_day
from intentmatch.evaluation.drift_report import send, to_dict
from intentmatch.inbox.inbox import Inbox
from intentmatch.inbox.sample import SampledAnswer
from intentmatch.matching.matcher import Matcher
from intentmatch.runtime.background import in_background

_log = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 60.0
SECONDS_BEFORE_RETRIES = (10.0, 60.0)
"""How long to wait before the webhook is called again, each time."""
# The check begins again if words are erased while it runs: what it has read may have them.
_TRIES = 3
# Messages that are matched in one go. Then this rests as long as that took: others want to be answered too.
_AT_ONCE = 32


class DailyDrift:
    """The check of one bot."""

    def __init__(self, matcher: Callable[[], Matcher], inbox: Callable[[], Inbox | None], name: str | None) -> None:
        """`name` is that of a bot of several; None if there is only one."""
        self._matcher, self._inbox, self._name = matcher, inbox, name
        self.last: dict[str, Any] | None = None
        """What the last check found, whoever did it: `drift_report.to_dict`, with `checked` in seconds since the epoch;
        None if there was none."""
        self._warned: str | None = None

    async def follow(self) -> None:
        """Do each check that is due and that nobody has done, also one that was due before the start."""
        while True:
            try:
                found = await in_background(self.look)
                self._warned = None
                if found is not None:
                    await self._tell(found)
            except Exception as error:  # noqa: BLE001 - the next check must come, whatever happens to this one
                self._warn(error)
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    def look(self) -> Drift | None:
        """Do the check if it is due; return what was found if it was done here.

        Raises `InputError` if no answers are kept to compare, and what the inbox raises.
        """
        settings, inbox = self._matcher().settings, self._inbox()
        if settings.drift == "off" or inbox is None or not inbox.has_messages:
            self.last = None
        if settings.drift == "off":
            return None
        if inbox is None or not settings.inbox_sample["share"]:
            raise InputError("no answers are kept to compare: set inbox, and inbox_sample to keep a share of them")
        if not inbox.has_messages:
            return None
        due = last_due(settings.drift, datetime.fromtimestamp(time.time(), timezone.utc))
        found = None
        if inbox.claim_drift(due.timestamp()):
            for _ in range(_TRIES):
                # An erasure after this moment may be about answers that were read:
                # `put_drift` then refuses the findings.
                read = time.time()
                answers = self._answers(inbox.sampled())
                found = find_drift(*split_last_day(answers, end=due))
                if inbox.put_drift({"checked": due.timestamp(), **to_dict(found)}, read):
                    break
        self.last = inbox.drift()
        return found

    def _answers(self, sample: Sequence[SampledAnswer]) -> list[Answered]:
        """Answer the sampled messages with the registry in use; those without a text stay as they were answered."""
        matcher = self._matcher()
        # The registry in use answers both sides: an edit in between would otherwise look like users who changed.
        messages = [(one.text, one.time) for one in sample if one.text is not None]
        found = [
            Answered("", one.time, one.verdict, one.intent, one.language, one.confidence)
            for one in sample
            if one.text is None
        ]
        for start in range(0, len(messages), _AT_ONCE):
            began = time.perf_counter()
            found += answered(matcher, messages[start : start + _AT_ONCE])
            time.sleep(time.perf_counter() - began)
        return found

    async def _tell(self, found: Drift) -> None:
        """Write the findings to the log, and send them to the webhook, again if it does not accept them."""
        about = "" if self._name is None else f"{self._name}: "
        _log.info("%sdrift: %d messages of the last day, %d before", about, found.now, found.before)
        for finding in found.findings:
            _log.warning("%sdrift: %s", about, finding.text)
        webhook = self._matcher().settings.drift_webhook
        # No news are not sent: a webhook that speaks every day is soon ignored.
        if webhook == "off" or not found.findings:
            return
        content = to_dict(found) | ({} if self._name is None else {"bot": self._name})
        body = json.dumps(content, ensure_ascii=False).encode()
        # The claim is taken, so that nobody else would send it tomorrow: a webhook that is
        # restarting must not lose a day.
        for seconds in (*SECONDS_BEFORE_RETRIES, None):
            try:
                await asyncio.to_thread(send, webhook, body)
            except UnavailableError as error:
                if seconds is None:
                    raise
                _log.info("drift: %s; once more in %.0f s", error, seconds)
                await asyncio.sleep(seconds)
            else:
                return

    def _warn(self, error: Exception) -> None:
        """Log an error, once until it is gone."""
        if str(error) != self._warned:
            self._warned = str(error)
            about = "" if self._name is None else f" of {self._name}"
            expected = isinstance(error, IntentMatchError)
            _log.warning("the check%s for drift failed: %s", about, error, exc_info=not expected)


def last_due(time_of_day: str, now: datetime) -> datetime:
    """Return when a check at this time of day, such as `06:30` in UTC, was last due."""
    hour, minute = map(int, time_of_day.split(":"))
    due = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    # Also after the time of day, so that a server that was down then makes up for it.
    return due if due <= now else due - timedelta(days=1)
