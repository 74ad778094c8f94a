-- The daily check for drift: which one was done last by any replica, and what it found, as JSON.

ALTER TABLE intentmatch.inboxes ADD COLUMN drift_due double precision, ADD COLUMN drift text;
COMMENT ON COLUMN intentmatch.inboxes.drift_due IS 'When the last check was due, in seconds since the epoch';
