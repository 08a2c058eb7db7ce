-- How often the person called a recalled belief or turn useful, and how often not: numbers by id, for a report. Not part of the
-- journal, since nothing that is recalled depends on it. Deleted with the text of the belief or turn.
CREATE TABLE feedback (
  user_id INTEGER NOT NULL REFERENCES users (id),
  item TEXT NOT NULL,
  useful INTEGER NOT NULL,
  not_useful INTEGER NOT NULL,
  last_at TEXT NOT NULL,
  PRIMARY KEY (user_id, item)
) STRICT, WITHOUT ROWID;
