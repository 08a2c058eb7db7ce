-- The text of a belief is stored once, in the journal, where the newest change of a belief holds its current text.
-- Typos are found by the halves of words, two rows for each word, instead of by every spelling with one letter left out.
-- Opening the store fills the new tables, since the analysis has another version.

DROP TABLE beliefs;
CREATE TABLE beliefs (
  row INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  audience INTEGER NOT NULL,
  current INTEGER NOT NULL,
  words INTEGER NOT NULL,
  name_key TEXT NOT NULL,
  type INTEGER NOT NULL,
  status INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  candidate INTEGER NOT NULL,
  superseded_by TEXT,
  proposed_for TEXT,
  updated_at TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX beliefs_by_id ON beliefs (user_id, id);
CREATE INDEX beliefs_by_name ON beliefs (user_id, name_key);
CREATE INDEX beliefs_by_update
  ON beliefs (user_id, updated_at DESC, name_key, id, current, type, status, pinned, proposed_for, candidate);
CREATE INDEX beliefs_superseded ON beliefs (user_id, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX beliefs_proposed ON beliefs (user_id, proposed_for) WHERE proposed_for IS NOT NULL;

DROP TABLE typos;
DROP TABLE words;
CREATE TABLE words (
  user_id INTEGER NOT NULL,
  word TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (user_id, word)
) STRICT, WITHOUT ROWID;
CREATE TABLE typos (
  user_id INTEGER NOT NULL,
  half INTEGER NOT NULL,
  word TEXT NOT NULL,
  PRIMARY KEY (user_id, half, word)
) STRICT, WITHOUT ROWID;
