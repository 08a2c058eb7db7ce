import type { Migration } from './migrate.ts'

/** Names of the form index in the words of the field. The rows stay as they are. */
export const indexNames: Migration = {
  name: '004-index-names',
  sql: `
ALTER TABLE form_heads RENAME TO phrase_prefixes;
ALTER TABLE phrase_prefixes RENAME COLUMN head TO word;
ALTER TABLE slips RENAME TO typos;
ALTER TABLE typos RENAME COLUMN slip TO deletion;
`,
}
