import type { SystemQuery } from '../../../src/eval/system/system.ts'
import { type BeliefRecord, parseRecord } from '../../../src/memory/transfer/belief-record.ts'

/** One of Ada's beliefs, in the scope of kitchens, as read from a file. */
export const belief = (id: string, fields: object = {}): BeliefRecord =>
  parseRecord(
    { id, name: id, content: `About ${id}.`, scopes: ['domain:kitchen'], ...fields },
    { user: 'ada', scopes: [], origin: 'corpus', at: '2026-01-01T00:00:00.000Z', newId: () => 'unused' },
  ).record

export const question = (message: string, fields: Partial<SystemQuery> = {}): SystemQuery => ({
  user: 'ada',
  scopes: ['domain:kitchen'],
  message,
  budget: {},
  recall: {},
  ...fields,
})
