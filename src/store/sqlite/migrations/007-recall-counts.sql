-- How often beliefs were recalled, and how recalls went by day: numbers only. Not part of the journal, since a recall
-- changes nothing, and not derived from it.

CREATE TABLE recall_counts (
  user_id INTEGER NOT NULL REFERENCES users (id),
  belief TEXT NOT NULL,
  count INTEGER NOT NULL,
  last_at TEXT NOT NULL,
  PRIMARY KEY (user_id, belief)
) STRICT, WITHOUT ROWID;

CREATE TABLE recall_days (
  user_id INTEGER NOT NULL REFERENCES users (id),
  day TEXT NOT NULL,
  recalls INTEGER NOT NULL,
  silent INTEGER NOT NULL,
  total_ms REAL NOT NULL,
  PRIMARY KEY (user_id, day)
) STRICT, WITHOUT ROWID;
