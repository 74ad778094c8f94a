-- When words of users were erased last. What was said before, and waits in a replica, is not written any more.

ALTER TABLE intentmatch.inboxes ADD COLUMN erased_at double precision;
ALTER TABLE intentmatch.candidates ADD COLUMN erased_at double precision;
COMMENT ON COLUMN intentmatch.inboxes.erased_at IS 'In seconds since the epoch';
COMMENT ON COLUMN intentmatch.candidates.erased_at IS 'In seconds since the epoch';
