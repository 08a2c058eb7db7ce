import type { Belief } from '../../src/beliefs/belief.ts'
import type { Author, Ports } from '../../src/memory/ports.ts'
import { exportBeliefs } from '../../src/memory/transfer/export.ts'
import { importBeliefs } from '../../src/memory/transfer/import.ts'
import { person } from '../recall/fixtures.ts'

/** Imports records, or the text of a file of records; `trusted` by default, as if imported by a person. */
export const take = (memory: Ports, records: string | readonly object[], author: Author = person, trusted = true) =>
  importBeliefs(memory, {
    user: 'ann',
    author,
    trusted,
    source: 'notes.jsonl',
    scopes: ['domain:code'],
    text: typeof records === 'string' ? records : records.map((record) => JSON.stringify(record)).join('\n'),
  })
/** The export of one user. */
export const exported = async (memory: Ports, user = 'ann') => {
  const beliefs: Belief[] = []
  for await (const one of exportBeliefs(memory, { user })) beliefs.push(one)
  return beliefs
}
/** The counts of an import that changed nothing. */
export const nothing = { added: 0, unchanged: 0, reinforced: 0, corrected: 0, proposed: 0 }
