-- A random sample of all answers, with what reviewers said about them.

CREATE TABLE intentmatch.sample (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bot text NOT NULL REFERENCES intentmatch.inboxes ON DELETE CASCADE,
    key bytea NOT NULL,
    text text,
    language text,
    verdict text NOT NULL,
    intent text,
    offered text,
    confidence double precision,
    probability double precision NOT NULL,
    priority double precision NOT NULL,
    chance double precision NOT NULL,
    time double precision NOT NULL,
    judged text CHECK (judged IN ('meant', 'skipped')),
    expected text
);
CREATE INDEX sample_by_key ON intentmatch.sample (bot, key);
CREATE INDEX sample_by_age ON intentmatch.sample (bot, time);
COMMENT ON COLUMN intentmatch.sample.probability IS 'Chance with which the answer was drawn';
COMMENT ON COLUMN intentmatch.sample.expected IS 'Intent by the judgement; NULL with judged = ''meant'' for out of scope';

ALTER TABLE intentmatch.sample ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_bot ON intentmatch.sample USING (bot = current_setting('app.bot', true));
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'intentmatch_bot') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON intentmatch.sample TO intentmatch_bot;
    END IF;
END $$;
