-- What a running bot keeps: missed messages, writes, open questions, and keys.

CREATE TABLE intentmatch.inboxes (
    bot text PRIMARY KEY REFERENCES intentmatch.bots ON DELETE CASCADE,
    mode text NOT NULL,
    salt bytea NOT NULL,
    deleted_at double precision
);

CREATE TABLE intentmatch.messages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bot text NOT NULL REFERENCES intentmatch.inboxes ON DELETE CASCADE,
    key bytea NOT NULL,
    text text,
    language text,
    verdict text,
    intents text,
    confidence double precision,
    count bigint NOT NULL,
    first double precision NOT NULL,
    last double precision NOT NULL,
    handled text,
    UNIQUE (bot, key)
);
CREATE INDEX messages_by_age ON intentmatch.messages (bot, last);

CREATE TABLE intentmatch.corrections (
    bot text NOT NULL,
    message bigint NOT NULL REFERENCES intentmatch.messages ON DELETE CASCADE,
    intent text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (message, intent)
);
COMMENT ON COLUMN intentmatch.corrections.intent IS 'Empty for "no intent"';

CREATE TABLE intentmatch.audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bot text NOT NULL,
    time timestamptz NOT NULL DEFAULT now(),
    author text NOT NULL,
    what text NOT NULL,
    digest text NOT NULL,
    revision text
);
CREATE INDEX audit_by_bot ON intentmatch.audit (bot, id);

CREATE TABLE intentmatch.questions (
    bot text NOT NULL,
    conversation bytea NOT NULL,
    text text NOT NULL,
    expires timestamptz NOT NULL,
    PRIMARY KEY (bot, conversation)
);
CREATE INDEX questions_by_end ON intentmatch.questions (expires);

CREATE TABLE intentmatch.keys (
    digest bytea PRIMARY KEY,
    bot text NOT NULL,
    role text NOT NULL CHECK (role IN ('match', 'author', 'admin')),
    name text NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    revoked timestamptz
);
COMMENT ON COLUMN intentmatch.keys.digest IS 'SHA-256 of the key; the key itself is kept nowhere';
COMMENT ON COLUMN intentmatch.keys.bot IS 'Name of a bot, or * for all bots';

CREATE FUNCTION intentmatch.tell_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('intentmatch', 'keys:');
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON intentmatch.keys
    FOR EACH STATEMENT EXECUTE FUNCTION intentmatch.tell_keys();
