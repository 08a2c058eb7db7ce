-- Beliefs may be candidates, and standing instructions are found by scope. to_review lists the beliefs that the old rules
-- learned in conversations and that no person has touched since; opening the store turns them into candidates.

ALTER TABLE beliefs ADD COLUMN candidate INTEGER NOT NULL DEFAULT 0;
DROP INDEX beliefs_by_update;
CREATE INDEX beliefs_by_update
  ON beliefs (user_id, updated_at DESC, name_key, id, current, type, status, pinned, proposed_for, candidate);

-- `shelf` is set on standing beliefs: 0 for an instruction, 1 for another preference in user:universal.
DROP INDEX members_on_shelf;
CREATE INDEX members_standing ON members (user_id, scope, agent, edited DESC, shelf, reinforced DESC, belief)
  WHERE shelf IS NOT NULL;

CREATE TABLE to_review (
  user_id INTEGER NOT NULL,
  belief TEXT NOT NULL,
  PRIMARY KEY (user_id, belief)
) STRICT, WITHOUT ROWID;
INSERT INTO to_review (user_id, belief)
  SELECT user_id, id FROM beliefs
  WHERE current = 1
    AND body ->> '$.provenance.actor' = 'person'
    AND body ->> '$.provenance.origin' IN ('claude-code', 'codex', 'cursor', 'openclaw')
    AND NOT EXISTS (
      SELECT 1 FROM changes JOIN events ON events.number = changes.event
      WHERE changes.user_id = beliefs.user_id AND changes.belief_id = beliefs.id
        AND events.actor = 'person' AND events.origin NOT IN ('claude-code', 'codex', 'cursor', 'openclaw'));
