-- A member of the role intentmatch_bot sees and writes the rows of one bot: of the one that `SET app.bot` names.

DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['bots', 'contents', 'revisions', 'files', 'artefacts', 'vectors', 'inboxes', 'messages',
                               'corrections', 'audit', 'questions']
    LOOP
        EXECUTE format('ALTER TABLE intentmatch.%I ENABLE ROW LEVEL SECURITY', one);
        EXECUTE format('CREATE POLICY one_bot ON intentmatch.%I USING (bot = current_setting(''app.bot'', true))', one);
    END LOOP;
    -- A server reads the keys of its bot and those for all bots; only the owner of the table writes them.
    ALTER TABLE intentmatch.keys ENABLE ROW LEVEL SECURITY;
    CREATE POLICY one_bot ON intentmatch.keys FOR SELECT USING (bot IN (current_setting('app.bot', true), '*'));
    BEGIN
        CREATE ROLE intentmatch_bot NOLOGIN;
    EXCEPTION
        WHEN duplicate_object OR unique_violation THEN NULL;  -- roles belong to all databases of a server
        WHEN insufficient_privilege THEN
            RAISE NOTICE 'the role intentmatch_bot is missing: create it, and grant it what 0004 grants';
    END;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'intentmatch_bot') THEN
        GRANT USAGE ON SCHEMA intentmatch TO intentmatch_bot;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA intentmatch TO intentmatch_bot;
        REVOKE INSERT, UPDATE, DELETE ON intentmatch.keys, intentmatch.migrations FROM intentmatch_bot;
        REVOKE UPDATE, DELETE ON intentmatch.audit, intentmatch.revisions, intentmatch.files, intentmatch.contents
            FROM intentmatch_bot;
    END IF;
END $$;
