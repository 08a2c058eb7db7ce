-- The form index in the words of the field. The rows stay as they are.

ALTER TABLE form_heads RENAME TO phrase_prefixes;
ALTER TABLE phrase_prefixes RENAME COLUMN head TO word;
ALTER TABLE slips RENAME TO typos;
ALTER TABLE typos RENAME COLUMN slip TO deletion;
