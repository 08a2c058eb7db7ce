-- Where a turn has statements that may be pasted, as a JSON list of [start, end]. Null for turns that earlier versions stored:
-- they are judged when the next message is heard. The hash of a turn does not cover it, since it follows from the text.
ALTER TABLE turns ADD COLUMN doubtful TEXT;
CREATE INDEX turns_unjudged ON turns (user_id, row) WHERE doubtful IS NULL AND role = 0;
