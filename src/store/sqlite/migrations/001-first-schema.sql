-- users, events and changes are the truth; everything below them is derived from the newest `present` body of each belief,
-- and can be thrown away and made again. Rows of derived tables name beliefs by id; the numbers in `row`, scopes.id,
-- words.id and audiences.id are private to one filling of the tables and order nothing.

CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  origin TEXT NOT NULL,
  at TEXT NOT NULL,
  key TEXT,
  fingerprint TEXT,
  undoes INTEGER REFERENCES events (number),
  changes_hash BLOB NOT NULL,
  previous_hash BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE INDEX events_of_user ON events (user_id, number);
CREATE UNIQUE INDEX events_by_key ON events (user_id, key) WHERE key IS NOT NULL;
CREATE INDEX events_undoing ON events (undoes, number) WHERE undoes IS NOT NULL;

CREATE TABLE changes (
  event INTEGER NOT NULL REFERENCES events (number),
  ordinal INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  belief_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  body_hash BLOB,
  salt BLOB,
  body TEXT
) STRICT;
CREATE UNIQUE INDEX changes_of_event ON changes (event, ordinal);
CREATE UNIQUE INDEX changes_of_belief ON changes (user_id, belief_id, event);

CREATE TRIGGER events_are_only_appended BEFORE INSERT ON events
WHEN NEW.number IS NOT (SELECT ifnull(max(number), 0) + 1 FROM events)
BEGIN SELECT RAISE(ABORT, 'The journal is append-only.'); END;
CREATE TRIGGER changes_are_only_appended BEFORE INSERT ON changes
WHEN NEW.event IS NOT (SELECT max(number) FROM events)
BEGIN SELECT RAISE(ABORT, 'The journal is append-only.'); END;
CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'The journal is append-only.'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'The journal is append-only.'); END;
CREATE TRIGGER changes_are_never_deleted BEFORE DELETE ON changes
BEGIN SELECT RAISE(ABORT, 'The journal is append-only.'); END;
CREATE TRIGGER changes_are_only_erased BEFORE UPDATE ON changes
WHEN NEW.body IS NOT NULL OR NEW.salt IS NOT NULL OR NEW.event IS NOT OLD.event OR NEW.ordinal IS NOT OLD.ordinal
  OR NEW.user_id IS NOT OLD.user_id OR NEW.belief_id IS NOT OLD.belief_id OR NEW.version IS NOT OLD.version
  OR NEW.outcome IS NOT OLD.outcome OR NEW.body_hash IS NOT OLD.body_hash
BEGIN SELECT RAISE(ABORT, 'A change in the journal can only lose its text.'); END;

-- The last event that forgot something which may still lie in unused parts of the file.
CREATE TABLE remains (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  event INTEGER NOT NULL
) STRICT;

-- What the derived tables were made with: a program that reads texts differently has to make them anew.
CREATE TABLE derivation (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  analysis TEXT NOT NULL
) STRICT;

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
  superseded_by TEXT,
  proposed_for TEXT,
  updated_at TEXT NOT NULL,
  version INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX beliefs_by_id ON beliefs (user_id, id);
CREATE INDEX beliefs_by_name ON beliefs (user_id, name_key);
CREATE INDEX beliefs_by_update
  ON beliefs (user_id, updated_at DESC, name_key, id, current, type, status, pinned, proposed_for);
-- What a search by text needs of a belief, without its text.
CREATE INDEX beliefs_by_row ON beliefs (row, audience, current, words, id);
CREATE INDEX beliefs_superseded ON beliefs (user_id, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX beliefs_proposed ON beliefs (user_id, proposed_for) WHERE proposed_for IS NOT NULL;

-- `beliefs` counts all in the scope, `current` those that may be recalled.
CREATE TABLE scopes (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  beliefs INTEGER NOT NULL,
  current INTEGER NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

-- Who may see a belief: its agent and its set of scopes. Counting by audience counts no belief twice.
CREATE TABLE audiences (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL,
  agent TEXT NOT NULL,
  label TEXT NOT NULL,
  current INTEGER NOT NULL,
  current_words INTEGER NOT NULL,
  retired INTEGER NOT NULL,
  retired_words INTEGER NOT NULL,
  UNIQUE (user_id, label)
) STRICT;
CREATE TABLE audience_scopes (
  user_id INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  audience INTEGER NOT NULL,
  PRIMARY KEY (user_id, scope, audience)
) STRICT, WITHOUT ROWID;

-- Which beliefs are in a scope. A name has at most one current holder in each. `pinned` is set on current beliefs only,
-- `shelf` on those of the persona only.
CREATE TABLE members (
  user_id INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  belief TEXT NOT NULL,
  name_key TEXT NOT NULL,
  current INTEGER NOT NULL,
  agent TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  edited INTEGER NOT NULL,
  shelf INTEGER,
  reinforced INTEGER NOT NULL,
  PRIMARY KEY (user_id, scope, belief)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX members_holding_name ON members (user_id, scope, name_key) WHERE current = 1;
CREATE INDEX members_pinned ON members (user_id, scope, agent, belief) WHERE pinned = 1;
CREATE INDEX members_pinned_edited ON members (user_id, agent, belief) WHERE pinned = 1 AND edited = 1;
CREATE INDEX members_on_shelf ON members (user_id, agent, shelf, edited DESC, reinforced DESC, belief)
  WHERE shelf IS NOT NULL;

CREATE TABLE forms (
  user_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  current INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  agent TEXT NOT NULL,
  belief TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  breaks INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  reinforced INTEGER NOT NULL,
  PRIMARY KEY (user_id, key, current, scope, agent, belief)
) STRICT, WITHOUT ROWID;

CREATE TABLE form_heads (
  user_id INTEGER NOT NULL,
  head TEXT NOT NULL,
  length INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (user_id, head, length)
) STRICT, WITHOUT ROWID;

CREATE TABLE words (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL,
  word TEXT NOT NULL,
  count INTEGER NOT NULL,
  UNIQUE (user_id, word)
) STRICT;
CREATE TABLE slips (
  user_id INTEGER NOT NULL,
  slip INTEGER NOT NULL,
  word INTEGER NOT NULL,
  PRIMARY KEY (user_id, slip, word)
) STRICT, WITHOUT ROWID;

-- Holds no text of its own, only where each word occurs; each word is preceded by its user's number. The tokenizer
-- leaves words as they come: everything beyond ASCII belongs to a word, and so do the marks the analysis keeps.
CREATE VIRTUAL TABLE texts USING fts5 (
  name, aliases, content, why, content = '', tokenize = "ascii tokenchars '_+#.'':,/-'"
);
INSERT INTO texts (texts, rank) VALUES ('secure-delete', 1);
-- Bytes collected before they are written, so that a big import is not merged over and over.
INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216);
CREATE VIRTUAL TABLE text_terms USING fts5vocab (texts, instance);
CREATE VIRTUAL TABLE text_counts USING fts5vocab (texts, col);
