-- How often beliefs were recalled. Not in the journal and not derived from it: nothing that is recalled depends on them.
CREATE TABLE credence.recall_counts (
  owner text COLLATE "C" NOT NULL,
  belief text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  last_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (owner, belief)
);
CREATE TABLE credence.recall_days (
  owner text COLLATE "C" NOT NULL,
  day text COLLATE "C" NOT NULL,
  recalls bigint NOT NULL,
  silent bigint NOT NULL,
  total_ms double precision NOT NULL,
  PRIMARY KEY (owner, day)
);
