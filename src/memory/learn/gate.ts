import { limits } from '../draft.ts'
import type { Candidate, Extraction, Refusal } from './candidate.ts'
import { mask, redacted, secretIn } from './secrets.ts'

/** Longer statements are documents, not beliefs. */
export const longestStatement = 1_000

/** The most beliefs one message gives. */
export const mostBeliefs = 200

/** What holds for every extractor: no secrets, nothing too long, nothing twice. Reads nothing but the message. */
export function gate({ candidates, refused }: Extraction): Extraction {
  const taken: Candidate[] = []
  const turnedAway: Refusal[] = refused.map(withoutSecrets)
  const seen = new Set<string>()
  for (const candidate of candidates) {
    const refusal = refusalOf(candidate, taken.length)
    if (refusal !== null) {
      turnedAway.push({ text: redacted(candidate.content), span: candidate.span, ...refusal })
      continue
    }
    const key = `${candidate.name.toLowerCase()}\n${candidate.content.toLowerCase()}`
    if (seen.has(key)) continue
    seen.add(key)
    taken.push({ ...candidate, aliases: candidate.aliases.slice(0, limits.aliases) })
  }
  return { candidates: taken, refused: turnedAway.sort((one, other) => one.span.start - other.span.start) }
}

type Reason = Pick<Refusal, 'reason' | 'explanation'>

function refusalOf({ content, name }: Candidate, taken: number): Reason | null {
  const secret = secretIn(content) ?? secretIn(name) ?? (content.includes(mask) ? 'a secret' : null)
  if (secret !== null) return secretReason(secret)
  if (content.length > longestStatement) {
    const explanation = `It has ${content.length} characters; a belief of at most ${longestStatement} is taken from a conversation.`
    return { reason: 'too_long', explanation }
  }
  if (taken >= mostBeliefs) {
    return { reason: 'too_long', explanation: `${mostBeliefs} beliefs were taken from this message already.` }
  }
  return null
}

/** Why a text with a secret in it is refused, whatever else could be said against it. */
export const secretReason = (secret: string): Reason => ({
  reason: 'secret',
  explanation: `It holds ${secret}, which does not belong in a memory.`,
})

/** A secret is not repeated, for whatever reason the words around it were left out. */
function withoutSecrets(refusal: Refusal): Refusal {
  const secret = secretIn(refusal.text)
  return secret === null ? refusal : { ...refusal, text: redacted(refusal.text), ...secretReason(secret) }
}
