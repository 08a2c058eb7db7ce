// TEMPORARY: stands in for what src/tasks/agents/reference imported of the old rules. Delete it together with that agent.
import type { BeliefType, Subtype } from '../../beliefs/belief.ts'
import type { Extractor as NewExtractor, Refusal as NewRefusal } from './extraction.ts'
import { nameOf } from './name-of.ts'
import { sentencesIn } from './own-words.ts'
import { offTheRecord } from './rules.ts'

export type Candidate = {
  readonly type: BeliefType
  readonly subtype: Subtype | null
  readonly name: string
  readonly aliases: readonly string[]
  readonly content: string
  readonly why: string
  readonly span: { readonly start: number; readonly end: number }
  readonly foundBy: string
  readonly certainty: 'said' | 'inferred'
  readonly kind: 'statement' | 'correction' | 'retraction'
  readonly replaces?: readonly string[]
  readonly pronoun?: string
}
type OldReason =
  | 'do_not_store'
  | 'small_talk'
  | 'hypothetical'
  | 'quotation'
  | 'forget_request'
  | 'instruction'
  | 'taken_back'
export type Refusal = Omit<NewRefusal, 'reason'> & { readonly reason: NewRefusal['reason'] | OldReason }
export type Extraction = { readonly candidates: readonly Candidate[]; readonly refused: readonly Refusal[] }
export type Heard = { readonly text: string; readonly earlier?: readonly string[] }
export type Extractor = {
  readonly name: string
  extract(heard: Heard, signal?: AbortSignal): Promise<Extraction>
}

/** Every own sentence that asks nothing. */
export const rulesExtractor: Extractor = {
  name: 'sentences',
  extract: async ({ text }) => {
    if (offTheRecord(text)) return { candidates: [], refused: [] }
    const own = sentencesIn(text).filter(({ foreign, text: said }) => foreign === null && !said.endsWith('?'))
    const candidates = own.map(({ text: content, start, end }): Candidate => {
      const said = { content, why: '', span: { start, end }, foundBy: 'sentences', certainty: 'said' } as const
      return { type: 'entity', subtype: null, kind: 'statement', ...nameOf(content), ...said }
    })
    return { candidates, refused: [] }
  },
}

export const gate = (extraction: Extraction): Extraction => extraction
export const forgetRequestIn = (_text: string): string | null => null
export const asForm = (_word: string, ..._forms: readonly string[]): string | undefined => undefined
export const isFirstName = (_word: string): boolean => false

/** What it hears, as the memory learns it now. */
export const asNewExtractor = (extractor: Extractor): NewExtractor => ({
  name: extractor.name,
  extract: async (heard, signal) => {
    const { candidates } = await extractor.extract(heard, signal)
    const findings = candidates.map(({ content, span, type, subtype, name, aliases }) => ({
      kind: 'request' as const,
      about: 'work' as const,
      ...{ content, span, type, subtype, name, aliases },
    }))
    return { findings, refused: [] }
  },
})
