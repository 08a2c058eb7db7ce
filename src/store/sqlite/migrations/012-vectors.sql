-- Vectors of sentences: one byte for each dimension, one sentence after the other. They follow from the texts, are computed in the
-- background, and are deleted with their text. `number` grows, so that a process can read the new ones. `item` is a row of `turns` or
-- of `beliefs`; `list` is the scope of the turn, or the user of the belief.
DROP TABLE turn_vectors;
CREATE TABLE turn_vectors (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  item INTEGER NOT NULL UNIQUE REFERENCES turns (row),
  list INTEGER NOT NULL,
  model TEXT NOT NULL,
  vectors BLOB NOT NULL
) STRICT;
CREATE INDEX turn_vectors_in_list ON turn_vectors (list, model);
CREATE TABLE belief_vectors (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  item INTEGER NOT NULL UNIQUE,
  list INTEGER NOT NULL,
  model TEXT NOT NULL,
  vectors BLOB NOT NULL
) STRICT;
CREATE INDEX belief_vectors_in_list ON belief_vectors (list, model);
