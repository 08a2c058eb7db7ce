-- The database keeps the journal; every program derives its own index from it. Tables that were derived go, and with them the
-- numbers that only they needed.
DROP TABLE credence.beliefs, credence.scopes, credence.audiences, credence.audience_scopes, credence.members, credence.forms,
  credence.phrase_prefixes, credence.words, credence.typos, credence.text_terms, credence.turn_scopes, credence.turn_speakers,
  credence.turn_vectors, credence.turn_postings, credence.analyses;

-- forgotten and forgot_at: number and time of the newest event that erased texts.
ALTER TABLE credence.owners DROP COLUMN next_row, DROP COLUMN next_session, DROP COLUMN analysis,
  ADD COLUMN forgotten bigint NOT NULL DEFAULT 0, ADD COLUMN forgot_at timestamptz;
CREATE INDEX owners_by_forgetting ON credence.owners (forgot_at) WHERE forgot_at IS NOT NULL;

DROP INDEX credence.events_undoing;
ALTER TABLE credence.events DROP COLUMN beliefs, DROP COLUMN turns;

-- A session is its name. The event and the ordinal of a turn are its key.
DROP TRIGGER turns_keep_their_hash ON credence.turns;
ALTER TABLE credence.turns RENAME COLUMN session TO session_id;
ALTER TABLE credence.turns ADD COLUMN session text COLLATE "C";
UPDATE credence.turns SET session = sessions.name FROM credence.sessions
  WHERE sessions.owner = turns.owner AND sessions.id = turns.session_id;
DROP INDEX credence.turns_of_event, credence.turns_by_time, credence.turns_by_words, credence.turns_by_message;
ALTER TABLE credence.turns DROP COLUMN session_id, DROP COLUMN row;
ALTER TABLE credence.turns ADD PRIMARY KEY (owner, event, ordinal);
CREATE INDEX turns_in_session ON credence.turns (owner, session, place) WHERE session IS NOT NULL;
DROP TABLE credence.sessions;
CREATE TRIGGER turns_keep_their_hash BEFORE UPDATE ON credence.turns FOR EACH ROW
  WHEN ((NEW.id, NEW.event, NEW.ordinal, NEW.passages, NEW.hash) IS DISTINCT FROM
        (OLD.id, OLD.event, OLD.ordinal, OLD.passages, OLD.hash) OR (NEW.text IS DISTINCT FROM OLD.text AND NEW.text IS NOT NULL))
  EXECUTE FUNCTION credence.refuse_change();

-- The derived SQLite file of an owner after an event, compressed, so that a program that has never seen the owner need not read the
-- whole journal. format: the version of the file. Deleted when the owner forgets something.
CREATE TABLE credence.snapshots (
  owner text COLLATE "C" NOT NULL,
  format text COLLATE "C" NOT NULL,
  head bigint NOT NULL,
  file bytea NOT NULL,
  PRIMARY KEY (owner, format)
);
ALTER TABLE credence.snapshots ALTER COLUMN file SET STORAGE EXTERNAL;
