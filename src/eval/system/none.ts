import type { System } from './system.ts'

/** Control: the floor. Whatever passes with it needs no retrieval at all. */
export const noneSystem = (): System => ({
  name: 'none',
  version: '1',
  description: 'control: never finds a relevant belief',
  tiers: 'relevant',
  reset: async () => {},
  ingest: async () => [],
  update: async () => {},
  recall: async () => ({ prelude: null, pinned: [], relevant: [], questions: [] }),
  close: async () => {},
})
