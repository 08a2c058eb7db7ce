import type { Candidate, Extractor } from '../../../memory/learn/candidate.ts'

/** What shows that a pack tells good from bad: each of them must fail it. */
export const controlExtractors = ['none', 'everything'] as const

/** Hears and keeps nothing. */
export const deafExtractor: Extractor = {
  name: 'none',
  extract: async () => ({ candidates: [], refused: [] }),
}

/** Keeps every sentence, found by every word of it. */
export const greedyExtractor: Extractor = {
  name: 'everything',
  extract: async ({ text }) => ({
    candidates: [...text.matchAll(/[^.!?\n]+[.!?]*/gu)].flatMap((match): readonly Candidate[] => {
      const content = match[0].trim()
      const words = content.match(/[\p{L}\p{N}]+/gu) ?? []
      const [name] = words
      if (name === undefined) return []
      const span = { start: match.index, end: match.index + match[0].length }
      const kept = {
        content,
        why: '',
        span,
        foundBy: 'everything is kept',
        certainty: 'said',
        kind: 'statement',
      } as const
      return [{ type: 'entity', subtype: null, name, aliases: words.slice(1, 60), ...kept }]
    }),
    refused: [],
  }),
}
