-- How often the person called a recalled belief or turn useful, and how often not. Deleted with the text of the belief or turn.
CREATE TABLE credence.feedback (
  owner text COLLATE "C" NOT NULL,
  item text COLLATE "C" NOT NULL,
  useful bigint NOT NULL,
  not_useful bigint NOT NULL,
  last_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (owner, item)
);
