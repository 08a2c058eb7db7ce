-- When a token was used last and when it was revoked. A revoked token stays as a row that no hash of a token finds.
ALTER TABLE credence.tokens ADD COLUMN last_used_at text, ADD COLUMN revoked_at text;
DROP INDEX credence.tokens_invites;
CREATE UNIQUE INDEX tokens_invites ON credence.tokens (person) WHERE kind = 'invite' AND revoked_at IS NULL;
