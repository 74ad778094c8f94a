-- What a role may see depends on the bot of each row. Before, it depended on `app.bot` alone, which SQL changes in
-- mid-statement, after PostgreSQL has looked.

DO $$
DECLARE
    one record;
    -- Looked up once for each statement: neither part depends on a setting.
    mine text := '(bot IN (SELECT mine.bot FROM intentmatch.tenants AS mine WHERE mine.role = current_user) '
                 'OR EXISTS (SELECT FROM intentmatch.tenants AS mine '
                 'WHERE mine.role = current_user AND mine.bot = ''*''))';
    chosen text := 'bot = current_setting(''app.bot'', true)';
BEGIN
    FOR one IN SELECT tablename FROM pg_policies WHERE schemaname = 'intentmatch' AND policyname = 'one_bot'
    LOOP
        EXECUTE format('ALTER POLICY one_bot ON intentmatch.%I USING (%s AND %s)', one.tablename, chosen, mine);
    END LOOP;
    -- Servers of tenants also accept the keys for all bots; the rows hold digests.
    EXECUTE format('ALTER POLICY one_bot ON intentmatch.keys USING ((%s AND %s) OR (bot = ''*'' AND EXISTS '
                   '(SELECT FROM intentmatch.tenants AS mine WHERE mine.role = current_user)))', chosen, mine);
END $$;

-- A reference is checked without policies: it must not find a message of another bot.
ALTER TABLE intentmatch.messages ADD UNIQUE (bot, id);
DELETE FROM intentmatch.corrections AS one
    WHERE NOT EXISTS (SELECT FROM intentmatch.messages AS its WHERE its.bot = one.bot AND its.id = one.message);
ALTER TABLE intentmatch.corrections
    DROP CONSTRAINT corrections_message_fkey,
    ADD CONSTRAINT corrections_message_fkey FOREIGN KEY (bot, message) REFERENCES intentmatch.messages (bot, id)
        ON UPDATE CASCADE ON DELETE CASCADE;

DO $$
DECLARE
    one record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'intentmatch_bot') THEN
        RETURN;
    END IF;
    -- A bot that is deleted or gets another name takes its revisions and its audit log along, which no role may change.
    REVOKE UPDATE, DELETE ON intentmatch.bots FROM intentmatch_bot;
    GRANT UPDATE (revision) ON intentmatch.bots TO intentmatch_bot;
    -- A role that chose ids could take those of the next rows of other bots, whose writes would fail.
    FOR one IN
        SELECT attrelid::regclass AS place,
            string_agg(quote_ident(attname), ', ') FILTER (WHERE attidentity = '') AS columns
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'intentmatch'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
        GROUP BY attrelid HAVING bool_or(attidentity <> '')
    LOOP
        EXECUTE format('REVOKE INSERT ON %s FROM intentmatch_bot', one.place);
        EXECUTE format('GRANT INSERT (%s) ON %s TO intentmatch_bot', one.columns, one.place);
    END LOOP;
END $$;

-- Functions of other schemas are not found, whatever the search path of whoever writes.
ALTER FUNCTION intentmatch.tell_revision() SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION intentmatch.tell_keys() SET search_path = pg_catalog, pg_temp;
