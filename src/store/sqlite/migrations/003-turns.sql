-- sessions, turns, turn_texts and the names in turn_scopes are the truth about what was said; the counters of turn_scopes,
-- turn_speakers and turn_postings are derived from them. A forgotten turn stays as a row without a text, so that the chain
-- of the journal still verifies.

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

CREATE TABLE turn_scopes (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  units INTEGER NOT NULL DEFAULT 0,
  length INTEGER NOT NULL DEFAULT 0,
  human_words INTEGER NOT NULL DEFAULT 0,
  UNIQUE (user_id, name)
) STRICT;

-- A long turn takes a row number for each of its passages; `lengths` are those of the passages, in terms. `key` tells
-- turns with the same session, role and words.
CREATE TABLE turns (
  row INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  event INTEGER NOT NULL REFERENCES events (number),
  ordinal INTEGER NOT NULL,
  passages INTEGER NOT NULL,
  hash BLOB NOT NULL,
  salt BLOB,
  erased_by INTEGER REFERENCES events (number),
  erased_order INTEGER,
  message_id TEXT,
  session INTEGER REFERENCES sessions (id),
  place INTEGER,
  given_index INTEGER,
  role INTEGER,
  speaker TEXT,
  at INTEGER,
  scope INTEGER REFERENCES turn_scopes (id),
  host TEXT,
  origin INTEGER,
  key BLOB,
  asks INTEGER,
  lengths TEXT
) STRICT;
CREATE UNIQUE INDEX turns_by_id ON turns (user_id, id);
CREATE UNIQUE INDEX turns_of_event ON turns (event, ordinal);
CREATE INDEX turns_erased ON turns (erased_by, erased_order) WHERE erased_by IS NOT NULL;
CREATE INDEX turns_in_session ON turns (session, place) WHERE session IS NOT NULL;
CREATE INDEX turns_by_time ON turns (user_id, at) WHERE session IS NOT NULL;
CREATE INDEX turns_by_words ON turns (user_id, key) WHERE key IS NOT NULL;
CREATE INDEX turns_by_message ON turns (user_id, message_id) WHERE message_id IS NOT NULL;

CREATE TABLE turn_texts (
  row INTEGER PRIMARY KEY REFERENCES turns (row),
  text TEXT NOT NULL
) STRICT;

CREATE TRIGGER turns_are_never_deleted BEFORE DELETE ON turns
BEGIN SELECT RAISE(ABORT, 'The journal is append-only.'); END;
CREATE TRIGGER turns_keep_their_hash BEFORE UPDATE OF row, user_id, id, event, ordinal, passages, hash ON turns
BEGIN SELECT RAISE(ABORT, 'The journal is append-only.'); END;
CREATE TRIGGER turn_texts_are_never_updated BEFORE UPDATE ON turn_texts
BEGIN SELECT RAISE(ABORT, 'What was said is kept as it was said.'); END;

CREATE TABLE turn_speakers (
  scope INTEGER NOT NULL,
  name TEXT NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

-- What sentences mean, as one byte for each dimension, one sentence after the other. Made in the background, and thrown
-- away with their turn.
CREATE TABLE turn_vectors (
  row INTEGER PRIMARY KEY REFERENCES turns (row),
  model TEXT NOT NULL,
  vectors BLOB NOT NULL
) STRICT;

-- `entries` has three bytes for each unit of the block that holds the term: its number in the block, and how often.
CREATE TABLE turn_postings (
  scope INTEGER NOT NULL,
  term TEXT NOT NULL,
  block INTEGER NOT NULL,
  entries BLOB NOT NULL,
  PRIMARY KEY (scope, term, block)
) STRICT, WITHOUT ROWID;
