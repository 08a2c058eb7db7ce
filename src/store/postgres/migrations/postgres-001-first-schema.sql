-- owners, events, changes, sessions and turns are the truth; every other table is derived from them and can be filled again.
-- The owner is the first column of every key, so that tables can be partitioned or distributed by it. Texts sort by code
-- point (COLLATE "C"), as in the other stores.

-- head and hash: number and hash of the newest event. next_row: the row of the next turn. analysis: see analyses.
CREATE TABLE credence.owners (
  owner text COLLATE "C" PRIMARY KEY,
  head bigint NOT NULL,
  hash bytea NOT NULL,
  next_row integer NOT NULL,
  next_session integer NOT NULL,
  analysis integer NOT NULL
);

-- The versions of the text analysis that programs of this store have had, in the order in which they came.
CREATE TABLE credence.analyses (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE
);

-- long_key: the whole key, where key holds only its beginning and a hash because it is too long for an index.
-- attempt: drawn for each commit, so that a retry after a lost connection finds the event that the first attempt wrote.
CREATE TABLE credence.events (
  owner text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  kind text NOT NULL,
  actor text NOT NULL,
  origin text NOT NULL,
  at text NOT NULL,
  key text COLLATE "C",
  long_key text,
  fingerprint text,
  request_salt bytea,
  undoes bigint,
  changes_hash bytea NOT NULL,
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  attempt uuid NOT NULL,
  beliefs integer NOT NULL,
  turns integer NOT NULL,
  PRIMARY KEY (owner, number)
);
CREATE UNIQUE INDEX events_by_key ON credence.events (owner, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX events_by_attempt ON credence.events (owner, attempt);
CREATE INDEX events_undoing ON credence.events (owner, undoes, number) WHERE undoes IS NOT NULL;

CREATE TABLE credence.changes (
  owner text COLLATE "C" NOT NULL,
  event bigint NOT NULL,
  ordinal integer NOT NULL,
  belief text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  outcome text NOT NULL,
  body_hash bytea,
  salt bytea,
  body text,
  PRIMARY KEY (owner, event, ordinal)
);
CREATE UNIQUE INDEX changes_of_belief ON credence.changes (owner, belief, event);

CREATE TABLE credence.beliefs (
  owner text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  audience uuid NOT NULL,
  current boolean NOT NULL,
  words integer NOT NULL,
  name_key text COLLATE "C" NOT NULL,
  type smallint NOT NULL,
  status smallint NOT NULL,
  pinned boolean NOT NULL,
  candidate boolean NOT NULL,
  superseded_by text COLLATE "C",
  proposed_for text COLLATE "C",
  updated_at text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  crc bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (owner, id)
);
CREATE INDEX beliefs_by_name ON credence.beliefs (owner, name_key);
CREATE INDEX beliefs_by_update ON credence.beliefs (owner, updated_at DESC, name_key, id);
CREATE INDEX beliefs_superseded ON credence.beliefs (owner, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX beliefs_proposed ON credence.beliefs (owner, proposed_for) WHERE proposed_for IS NOT NULL;

-- beliefs counts all in the scope, current those that may be recalled.
CREATE TABLE credence.scopes (
  owner text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  beliefs integer NOT NULL,
  current integer NOT NULL,
  PRIMARY KEY (owner, scope)
);

-- Who may see a belief: its agent and its set of scopes. Counting by audience counts no belief twice.
CREATE TABLE credence.audiences (
  owner text COLLATE "C" NOT NULL,
  audience uuid NOT NULL,
  agent text COLLATE "C" NOT NULL,
  current integer NOT NULL,
  current_words integer NOT NULL,
  retired integer NOT NULL,
  retired_words integer NOT NULL,
  PRIMARY KEY (owner, audience)
);
CREATE TABLE credence.audience_scopes (
  owner text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  audience uuid NOT NULL,
  PRIMARY KEY (owner, scope, audience)
);

-- Which beliefs are in a scope. A name has at most one current holder in each. pinned is set on current beliefs only,
-- shelf on standing beliefs only: 0 for an instruction, 1 for another preference.
CREATE TABLE credence.members (
  owner text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  belief text COLLATE "C" NOT NULL,
  name_key text COLLATE "C" NOT NULL,
  current boolean NOT NULL,
  agent text COLLATE "C" NOT NULL,
  pinned boolean NOT NULL,
  edited boolean NOT NULL,
  shelf smallint,
  reinforced bigint NOT NULL,
  PRIMARY KEY (owner, scope, belief)
);
CREATE UNIQUE INDEX members_holding_name ON credence.members (owner, scope, name_key) WHERE current;
CREATE INDEX members_pinned ON credence.members (owner, scope, agent, belief) WHERE pinned;
CREATE INDEX members_pinned_edited ON credence.members (owner, agent, belief) WHERE pinned AND edited;
CREATE INDEX members_standing ON credence.members (owner, scope, agent, edited DESC, shelf, reinforced DESC, belief)
  WHERE shelf IS NOT NULL;

CREATE TABLE credence.forms (
  owner text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  current boolean NOT NULL,
  scope text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  belief text COLLATE "C" NOT NULL,
  ordinal integer NOT NULL,
  breaks integer NOT NULL,
  flags integer NOT NULL,
  reinforced bigint NOT NULL,
  PRIMARY KEY (owner, key, current, scope, agent, belief)
);

CREATE TABLE credence.phrase_prefixes (
  owner text COLLATE "C" NOT NULL,
  word text COLLATE "C" NOT NULL,
  length integer NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (owner, word, length)
);

-- Words of forms that a typo may stand for, and the keys under which a typo finds them.
CREATE TABLE credence.words (
  owner text COLLATE "C" NOT NULL,
  word text COLLATE "C" NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (owner, word)
);
CREATE TABLE credence.typos (
  owner text COLLATE "C" NOT NULL,
  key bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (owner, key, word)
);

-- How often each field of a belief holds a word.
CREATE TABLE credence.text_terms (
  owner text COLLATE "C" NOT NULL,
  term text COLLATE "C" NOT NULL,
  belief text COLLATE "C" NOT NULL,
  name integer NOT NULL,
  aliases integer NOT NULL,
  content integer NOT NULL,
  why integer NOT NULL,
  PRIMARY KEY (owner, term, belief)
);

CREATE TABLE credence.sessions (
  owner text COLLATE "C" NOT NULL,
  id integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (owner, id)
);
CREATE UNIQUE INDEX sessions_by_name ON credence.sessions (owner, name);

-- A long turn takes a row number for each of its passages; lengths are those of the passages, in terms. key tells turns with
-- the same session, role and words. A forgotten turn stays as a row without a text, so that the chain still verifies.
CREATE TABLE credence.turns (
  owner text COLLATE "C" NOT NULL,
  row integer NOT NULL,
  id text COLLATE "C" NOT NULL,
  event bigint NOT NULL,
  ordinal integer NOT NULL,
  passages integer NOT NULL,
  hash bytea NOT NULL,
  salt bytea,
  erased_by bigint,
  erased_order integer,
  message_id text COLLATE "C",
  session integer,
  place integer,
  given_index integer,
  role smallint,
  speaker text COLLATE "C",
  at bigint,
  scope text COLLATE "C",
  host text COLLATE "C",
  origin smallint,
  key bytea,
  asks boolean,
  lengths text,
  text text,
  PRIMARY KEY (owner, row)
);
CREATE UNIQUE INDEX turns_by_id ON credence.turns (owner, id);
CREATE UNIQUE INDEX turns_of_event ON credence.turns (owner, event, ordinal);
CREATE INDEX turns_erased ON credence.turns (owner, erased_by, erased_order) WHERE erased_by IS NOT NULL;
CREATE INDEX turns_in_session ON credence.turns (owner, session, place) WHERE session IS NOT NULL;
CREATE INDEX turns_by_time ON credence.turns (owner, at) WHERE session IS NOT NULL;
CREATE INDEX turns_by_words ON credence.turns (owner, key) WHERE key IS NOT NULL;
CREATE INDEX turns_by_message ON credence.turns (owner, message_id) WHERE message_id IS NOT NULL;

CREATE TABLE credence.turn_scopes (
  owner text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  units integer NOT NULL,
  length bigint NOT NULL,
  human_words bigint NOT NULL,
  PRIMARY KEY (owner, scope)
);
CREATE TABLE credence.turn_speakers (
  owner text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  turns integer NOT NULL,
  PRIMARY KEY (owner, scope, name)
);
CREATE TABLE credence.turn_vectors (
  owner text COLLATE "C" NOT NULL,
  row integer NOT NULL,
  model text COLLATE "C" NOT NULL,
  vectors bytea NOT NULL,
  PRIMARY KEY (owner, row, model)
);

-- entries has three bytes for each unit of the block that holds the term: its number in the block, and how often.
CREATE TABLE credence.turn_postings (
  owner text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  term text COLLATE "C" NOT NULL,
  block integer NOT NULL,
  entries bytea NOT NULL,
  PRIMARY KEY (owner, scope, term, block)
);

CREATE FUNCTION credence.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The journal is append-only.';
END $$;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON credence.events
  FOR EACH ROW EXECUTE FUNCTION credence.refuse_change();
CREATE TRIGGER events_lose_only_their_salt BEFORE UPDATE ON credence.events FOR EACH ROW
  WHEN ((NEW.number, NEW.kind, NEW.actor, NEW.origin, NEW.at, NEW.key, NEW.long_key, NEW.fingerprint, NEW.undoes, NEW.changes_hash,
         NEW.previous_hash, NEW.hash) IS DISTINCT FROM (OLD.number, OLD.kind, OLD.actor, OLD.origin, OLD.at, OLD.key,
         OLD.long_key, OLD.fingerprint, OLD.undoes, OLD.changes_hash, OLD.previous_hash, OLD.hash) OR NEW.request_salt IS NOT NULL)
  EXECUTE FUNCTION credence.refuse_change();
CREATE TRIGGER changes_are_never_deleted BEFORE DELETE ON credence.changes
  FOR EACH ROW EXECUTE FUNCTION credence.refuse_change();
CREATE TRIGGER changes_lose_only_their_text BEFORE UPDATE ON credence.changes FOR EACH ROW
  WHEN ((NEW.event, NEW.ordinal, NEW.belief, NEW.version, NEW.outcome, NEW.body_hash) IS DISTINCT FROM
        (OLD.event, OLD.ordinal, OLD.belief, OLD.version, OLD.outcome, OLD.body_hash)
        OR NEW.body IS NOT NULL OR NEW.salt IS NOT NULL)
  EXECUTE FUNCTION credence.refuse_change();
CREATE TRIGGER turns_are_never_deleted BEFORE DELETE ON credence.turns
  FOR EACH ROW EXECUTE FUNCTION credence.refuse_change();
CREATE TRIGGER turns_keep_their_hash BEFORE UPDATE ON credence.turns FOR EACH ROW
  WHEN ((NEW.row, NEW.id, NEW.event, NEW.ordinal, NEW.passages, NEW.hash) IS DISTINCT FROM
        (OLD.row, OLD.id, OLD.event, OLD.ordinal, OLD.passages, OLD.hash) OR (NEW.text IS DISTINCT FROM OLD.text AND NEW.text IS NOT NULL))
  EXECUTE FUNCTION credence.refuse_change();
