import { statSync } from 'node:fs'
import { createdIn, loadPack, recallRunnerNames } from '../runners/retrieval/pack.ts'
import type { PackPlace } from '../runners/runner.ts'
import type { CaseRecord } from '../store/schemas/run.ts'
import type { SystemTurn } from '../system/system.ts'

/** The message and expectations of a case. `beliefs` has the name and content of each expected, rejected or returned belief or turn. */
type CaseTexts = {
  readonly message: string
  readonly scopes: readonly string[]
  readonly expected: readonly ExpectedBelief[]
  readonly beliefs: Readonly<Record<string, { readonly name: string; readonly content: string }>>
}

type ExpectedBelief = {
  readonly id: string
  readonly tier: 'pinned' | 'relevant' | 'question' | 'quote' | 'any'
  readonly must: 'include' | 'exclude'
}

/** Max bytes of suite data to read just to show one case. */
const maxBytes = 50_000_000
const maxTurnLength = 600

/** The question of a conversation pack, the turns with the evidence and the returned turns; null if they cannot be read. */
export async function questionTexts(
  place: PackPlace,
  data: string | undefined,
  { caseId, records }: { readonly caseId: string; readonly records: readonly CaseRecord[] },
): Promise<CaseTexts | null> {
  const size = data === undefined ? 0 : (statSync(data, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY)
  if (size > maxBytes) return null
  const { questionOf } = await import('../runners/conversation/conversation-runner.ts')
  const found = questionOf(place, data, caseId)
  if (found === null) return null
  const { conversation, question } = found
  const expected = [...question.gold.turns].map((id) => ({ id, tier: 'any', must: 'include' }) as const)
  const turns = conversation.turns.map(turnText)
  return { message: question.text, scopes: [], expected, beliefs: textsOf(turns, expected, records) }
}

const turnText = ({ id, speaker, role, at, text }: Omit<SystemTurn, 'user' | 'scope'>) => ({
  id,
  name: `${speaker ?? role}, ${at.slice(0, 10)}`,
  content: text.slice(0, maxTurnLength),
})

/** Names and contents of the beliefs that a case expects, rejects or returned. */
function textsOf(
  all: readonly { readonly id: string; readonly name: string; readonly content: string }[],
  expected: readonly ExpectedBelief[],
  records: readonly CaseRecord[],
) {
  const needed = new Set([...expected, ...records.flatMap(({ returned }) => returned)].map(({ id }) => id))
  const shown = all.filter(({ id }) => needed.has(id))
  return Object.fromEntries(shown.map(({ id, name, content }) => [id, { name, content }]))
}

/** The message and the expectations of a retrieval or session case, with the texts of the beliefs; null if there is no such case. */
export function caseTexts(packDirectory: string, caseId: string, records: readonly CaseRecord[]): CaseTexts | null {
  const { pack } = loadPack(packDirectory, { strict: false })
  const found = pack.cases.find(({ id }) => id === caseId)
  if (found === undefined) return null
  const { message, scopes, expect } = found
  const { pinnedFacts = {}, relevantBeliefs = {}, openQuestions = {}, quotes = {}, noiseCheck = {} } = expect
  const wanted = [relevantBeliefs.mustInclude, relevantBeliefs.shouldInclude, relevantBeliefs.shouldOnlyInclude]
  const lists = [
    [pinnedFacts.mustInclude, 'pinned', 'include'],
    [[...new Set(wanted.flatMap((ids) => ids ?? []))], 'relevant', 'include'],
    [openQuestions.mustInclude, 'question', 'include'],
    [pinnedFacts.mustExclude, 'pinned', 'exclude'],
    [relevantBeliefs.mustExclude, 'relevant', 'exclude'],
    [openQuestions.mustExclude, 'question', 'exclude'],
    [quotes.mustInclude?.map(({ turn }) => turn), 'quote', 'include'],
    [quotes.mustExclude?.map(({ turn }) => turn), 'quote', 'exclude'],
    [noiseCheck.mustNotSurface, 'any', 'exclude'],
  ] as const
  const expected = lists.flatMap(([ids = [], tier, must]) => ids.map((id) => ({ id, tier, must })))
  const beliefs = textsOf([...pack.beliefs, ...createdIn(pack), ...(pack.turns ?? []).map(turnText)], expected, records)
  return { message, scopes, expected, beliefs }
}

/** Whether the cases of a pack expect beliefs by id. */
export const hasBeliefs = ({ runner }: PackPlace['manifest']): boolean =>
  recallRunnerNames.some((name) => name === runner)

/** Matches ids in failures: an id ends before a space or a comma, and ids of captured copies contain a dot. */
const beliefIds = /[\w.-]+/g

/** A failure message with the names of beliefs in place of their ids. */
export const withNames = (failure: string, names: Readonly<Record<string, string>>): string =>
  failure.replace(beliefIds, (word) => (Object.hasOwn(names, word) ? `"${names[word]}"` : word))

/** The names of the pack's beliefs whose ids occur in the texts. */
export function namesIn({ directory, manifest }: PackPlace, texts: readonly string[]): Record<string, string> {
  if (texts.length === 0 || !hasBeliefs(manifest)) return {}
  const { pack } = loadPack(directory, { strict: false })
  const words = new Set(texts.flatMap((text) => text.match(beliefIds) ?? []))
  const beliefs = [...pack.beliefs, ...createdIn(pack), ...(pack.turns ?? []).map(turnText)]
  return Object.fromEntries(beliefs.flatMap(({ id, name }) => (words.has(id) ? [[id, name]] : [])))
}
