import type { Extractor, Finding } from '../../../memory/learn/extraction.ts'
import { sentencesOf } from '../../../search/sentences.ts'

/** What shows that a pack tells good from bad: each of them must fail it. `none` is the ablation. */
export const controlExtractors = ['none', 'everything'] as const

/** Takes nothing. */
export const nothingExtractor: Extractor = {
  name: 'none',
  extract: async () => ({ findings: [], refused: [] }),
}

/** Takes every sentence as if it had been asked for. */
export const everythingExtractor: Extractor = {
  name: 'everything',
  extract: async ({ text }) => ({
    findings: sentencesOf(text).map(({ text: content, start, end }): Finding => {
      const kept = { type: 'entity', subtype: null, about: 'work' } as const
      return { kind: 'request', content, span: { start, end }, ...kept }
    }),
    refused: [],
  }),
}
