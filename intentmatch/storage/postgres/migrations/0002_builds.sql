-- What one replica has built, for the others.

CREATE TABLE intentmatch.artefacts (
    bot text NOT NULL REFERENCES intentmatch.bots ON DELETE CASCADE,
    key text NOT NULL,
    provisional boolean NOT NULL,
    content bytea NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (bot, key)
);
COMMENT ON COLUMN intentmatch.artefacts.key IS 'Digest of everything that determines the build';
COMMENT ON COLUMN intentmatch.artefacts.provisional IS 'Whether the calibration is still that of the revision before';
-- Artefacts do not get smaller by compression, and are read as a whole.
ALTER TABLE intentmatch.artefacts ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE intentmatch.vectors (
    bot text NOT NULL REFERENCES intentmatch.bots ON DELETE CASCADE,
    encoder text NOT NULL,
    key bytea NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (bot, encoder, key)
);
COMMENT ON COLUMN intentmatch.vectors.encoder IS 'Name, fingerprint and text version of the encoder';
COMMENT ON COLUMN intentmatch.vectors.key IS 'Digest of kind and cleaned text';
