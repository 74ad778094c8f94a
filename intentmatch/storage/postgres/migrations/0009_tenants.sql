-- Which bots a member of the role intentmatch_bot may see. Without it, whoever writes SQL could `SET app.bot` to any bot.

CREATE TABLE intentmatch.tenants (
    role name NOT NULL,
    bot text NOT NULL,
    PRIMARY KEY (role, bot)
);
COMMENT ON COLUMN intentmatch.tenants.role IS 'Name of a role that is a member of intentmatch_bot';
COMMENT ON COLUMN intentmatch.tenants.bot IS 'Name of a bot, or * for all bots';
-- Only the owner of the table writes it.
ALTER TABLE intentmatch.tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON intentmatch.tenants FOR SELECT USING (role = current_user);

DO $$
DECLARE
    one record;
    -- Does not depend on the row: PostgreSQL looks once for each statement.
    allowed text := 'EXISTS (SELECT FROM intentmatch.tenants AS mine WHERE mine.role = current_user '
                    'AND mine.bot IN (current_setting(''app.bot'', true), ''*''))';
BEGIN
    FOR one IN SELECT tablename, policyname, qual FROM pg_policies
        WHERE schemaname = 'intentmatch' AND policyname = 'one_bot'
    LOOP
        EXECUTE format('ALTER POLICY %I ON intentmatch.%I USING ((%s) AND %s)',
                       one.policyname, one.tablename, one.qual, allowed);
    END LOOP;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'intentmatch_bot') THEN
        GRANT SELECT ON intentmatch.tenants TO intentmatch_bot;
    END IF;
END $$;
