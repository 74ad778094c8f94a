-- A removed bot keeps its rows under another name, such as `shop@20260102T030405Z-1a2b`, until it is restored.

ALTER TABLE intentmatch.bots DROP CONSTRAINT bots_bot_check;
ALTER TABLE intentmatch.bots ADD CONSTRAINT bots_bot_check
    CHECK (bot ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(@\d{8}T\d{6}Z-[0-9a-f]{4})?$');
COMMENT ON COLUMN intentmatch.bots.bot IS 'Name of the bot; with @, a time and a number for a removed one';

-- A new name of a bot is a new name in all its rows.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT conrelid::regclass AS place, conname, confrelid::regclass AS target
        FROM pg_constraint
        WHERE contype = 'f' AND connamespace = 'intentmatch'::regnamespace
            AND array_length(conkey, 1) = 1 AND confrelid <> 'intentmatch.messages'::regclass
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.place, one.conname);
        EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I FOREIGN KEY (bot) REFERENCES %s ON UPDATE CASCADE '
                       'ON DELETE CASCADE', one.place, one.conname, one.target);
    END LOOP;
END $$;
-- Files belong to a revision and to a content: both are renamed before the end of the transaction.
ALTER TABLE intentmatch.files
    DROP CONSTRAINT files_bot_revision_fkey,
    DROP CONSTRAINT files_bot_digest_fkey,
    ADD CONSTRAINT files_bot_revision_fkey FOREIGN KEY (bot, revision) REFERENCES intentmatch.revisions
        ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT files_bot_digest_fkey FOREIGN KEY (bot, digest) REFERENCES intentmatch.contents
        ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED;
