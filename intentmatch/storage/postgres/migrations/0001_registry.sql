-- Bots, the files of each revision, and each content once.

CREATE TABLE intentmatch.bots (
    bot text PRIMARY KEY CHECK (bot ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$'),
    revision bigint NOT NULL DEFAULT 0,
    created timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN intentmatch.bots.revision IS 'Number of the newest revision; 0 before the first';

CREATE TABLE intentmatch.contents (
    bot text NOT NULL REFERENCES intentmatch.bots ON DELETE CASCADE,
    digest bytea NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (bot, digest)
);
COMMENT ON TABLE intentmatch.contents IS 'The text of files, byte for byte, by its SHA-256';

CREATE TABLE intentmatch.revisions (
    bot text NOT NULL REFERENCES intentmatch.bots ON DELETE CASCADE,
    number bigint NOT NULL,
    parent bigint,
    author text,
    note text NOT NULL,
    digest text NOT NULL,
    time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bot, number)
);
COMMENT ON COLUMN intentmatch.revisions.digest IS 'Digest of all files: the condition of the next edit';

CREATE TABLE intentmatch.files (
    bot text NOT NULL,
    revision bigint NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (bot, revision, name),
    FOREIGN KEY (bot, revision) REFERENCES intentmatch.revisions ON DELETE CASCADE,
    FOREIGN KEY (bot, digest) REFERENCES intentmatch.contents
);

CREATE FUNCTION intentmatch.tell_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('intentmatch', 'revision:' || NEW.bot);
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT ON intentmatch.revisions FOR EACH ROW EXECUTE FUNCTION intentmatch.tell_revision();
