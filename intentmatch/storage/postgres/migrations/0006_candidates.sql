-- The one candidate of a bot, with its counts and samples beside each registry that was in use meanwhile.

CREATE TABLE intentmatch.candidates (
    bot text PRIMARY KEY REFERENCES intentmatch.bots ON DELETE CASCADE,
    id text NOT NULL,
    record text NOT NULL
);

CREATE TABLE intentmatch.candidate_counts (
    bot text NOT NULL REFERENCES intentmatch.candidates ON DELETE CASCADE,
    present text NOT NULL,
    name text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (bot, present, name)
);

CREATE TABLE intentmatch.candidate_samples (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bot text NOT NULL REFERENCES intentmatch.candidates ON DELETE CASCADE,
    present text NOT NULL,
    kind text NOT NULL,
    chance double precision NOT NULL DEFAULT random(),
    text text,
    language text,
    answers text NOT NULL,
    time double precision NOT NULL
);
CREATE INDEX candidate_samples_by_kind ON intentmatch.candidate_samples (bot, present, kind, chance);

DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['candidates', 'candidate_counts', 'candidate_samples']
    LOOP
        EXECUTE format('ALTER TABLE intentmatch.%I ENABLE ROW LEVEL SECURITY', one);
        EXECUTE format('CREATE POLICY one_bot ON intentmatch.%I USING (bot = current_setting(''app.bot'', true))', one);
        IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'intentmatch_bot') THEN
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON intentmatch.%I TO intentmatch_bot', one);
        END IF;
    END LOOP;
END $$;
