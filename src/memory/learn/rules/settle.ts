import { nameKey } from '../../../beliefs/identity.ts'
import type { Candidate, Refusal } from '../candidate.ts'
import { wordsOf } from './phrases.ts'

/**
 * Within one message a name means one statement. A correction takes the place of what it corrects; another statement
 * of the same name gets a name of its own, so that neither replaces the other.
 */
export function settled(candidates: readonly Candidate[]): {
  readonly kept: readonly Candidate[]
  readonly takenBack: readonly Refusal[]
} {
  const kept: Candidate[] = []
  const takenBack: Refusal[] = []
  for (const candidate of candidates) {
    if (candidate.kind !== 'statement') {
      const at = correctedAt(kept, candidate)
      if (at !== -1) {
        const old = kept[at] as Candidate
        kept.splice(at, 1)
        takenBack.push(takenBackBy(old, candidate))
      }
      kept.push(candidate)
      continue
    }
    const isTaken = (name: string): boolean => kept.some((other) => nameKey(other.name) === nameKey(name))
    if (!isTaken(candidate.name)) {
      kept.push(candidate)
      continue
    }
    if (kept.some((other) => nameKey(other.name) === nameKey(candidate.name) && other.content === candidate.content))
      continue
    const longer = `${candidate.name}: ${wordsOf(candidate.content).slice(-6).join(' ')}`
    const { isSlot: _isSlot, ...rest } = candidate
    kept.push({
      ...rest,
      name: isTaken(longer) ? candidate.content.slice(0, 120) : longer,
      aliases: [candidate.name, ...candidate.aliases],
    })
  }
  return { kept, takenBack }
}

/** The statement of the same message that a correction is about: the last of its name, or that holds the words taken back. */
function correctedAt(kept: readonly Candidate[], candidate: Candidate): number {
  const byName = kept.findLastIndex((other) => nameKey(other.name) === nameKey(candidate.name))
  if (byName !== -1) return byName
  const old = (candidate.replaces ?? []).map((words) => words.toLowerCase()).filter((words) => words.length > 1)
  return kept.findLastIndex(
    (other) =>
      old.some((words) => other.content.toLowerCase().includes(words)) &&
      (candidate.pronoun !== undefined || sharesForm(other, candidate)),
  )
}

const sharesForm = (one: Candidate, other: Candidate): boolean => {
  const forms = new Set([one.name, ...one.aliases].map(nameKey))
  return [other.name, ...other.aliases].some((form) => forms.has(nameKey(form)))
}

const takenBackBy = ({ content, span }: Candidate, by: Candidate): Refusal => ({
  text: content,
  span,
  reason: 'taken_back',
  explanation: `The same message corrects it: "${by.content}".`,
})
