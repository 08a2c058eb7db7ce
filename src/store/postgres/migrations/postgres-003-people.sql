-- Who may use a served memory. Few rows, and not part of any owner's journal. Tokens are kept as hashes only.

CREATE TABLE credence.people (
  name text COLLATE "C" PRIMARY KEY,
  created_at text NOT NULL
);

CREATE TABLE credence.tokens (
  hash text COLLATE "C" PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  kind text NOT NULL,
  person text COLLATE "C" REFERENCES credence.people (name) ON DELETE CASCADE,
  scopes text NOT NULL,
  label text NOT NULL,
  created_at text NOT NULL
);
CREATE INDEX tokens_of_person ON credence.tokens (person);
CREATE UNIQUE INDEX tokens_invites ON credence.tokens (person) WHERE kind = 'invite';

CREATE TABLE credence.teams (
  name text COLLATE "C" PRIMARY KEY,
  created_at text NOT NULL
);

CREATE TABLE credence.team_members (
  person text COLLATE "C" NOT NULL REFERENCES credence.people (name) ON DELETE CASCADE,
  team text COLLATE "C" NOT NULL REFERENCES credence.teams (name) ON DELETE CASCADE,
  role text NOT NULL,
  PRIMARY KEY (person, team)
);
CREATE INDEX members_of_team ON credence.team_members (team);
