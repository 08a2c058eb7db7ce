-- When a token was used last and when it was revoked. A revoked token stays as a row that no hash of a token finds.
ALTER TABLE tokens ADD COLUMN last_used_at TEXT;
ALTER TABLE tokens ADD COLUMN revoked_at TEXT;
DROP INDEX tokens_invites;
CREATE UNIQUE INDEX tokens_invites ON tokens (person) WHERE kind = 'invite' AND revoked_at IS NULL;
