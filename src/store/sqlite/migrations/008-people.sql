-- Who may use a served memory. Not part of the journal, which belongs to users. Tokens are kept as hashes only.

CREATE TABLE people (
  name TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  hash TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  person TEXT REFERENCES people (name) ON DELETE CASCADE,
  scopes TEXT NOT NULL,
  label TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_by_id ON tokens (id);
CREATE INDEX tokens_of_person ON tokens (person);
CREATE UNIQUE INDEX tokens_invites ON tokens (person) WHERE kind = 'invite';

CREATE TABLE teams (
  name TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE team_members (
  person TEXT NOT NULL REFERENCES people (name) ON DELETE CASCADE,
  team TEXT NOT NULL REFERENCES teams (name) ON DELETE CASCADE,
  role TEXT NOT NULL,
  PRIMARY KEY (person, team)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_of_team ON team_members (team);
