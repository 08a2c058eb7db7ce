import { isFiniteVerb, wordsIn } from './finite-verbs.ts'
import { verbForms } from './verbs.ts'

/** "Favourite framework is Svelte, started using it in March": the speaker goes without saying. */
export const impliedSubject = (left: string, right: string): string | null =>
  // "a Miele, bought in 2022": that is said of the machine.
  !(/^bought\b/u.test(right) && /\b(?:is|are|was|has|have)\b/iu.test(left)) &&
  !/^bought\s+(?:from|in|at|for|on|new|used|second-hand)\b/u.test(right) &&
  /^(?:started|began|moved|joined|bought|met|learned|learnt|been (?:using|doing|learning|working|playing))\s+\S/u.test(
    right,
  )
    ? implied
    : null

/** Marks a subject that stands nowhere in the sentence. */
export const implied = 'I'

/** "I like tea and hate coffee": the second verb has the subject of the first. */
export function borrowedSubject(left: string, right: string): string | null {
  const [first = '', second = ''] = wordsIn(right)
  const lead = /^(?:also|always|never|usually|often|really|currently|now|still|mostly)$/iu.test(first) ? second : first
  const subject = /^(?:(?:also|and|so|well|yes|ok)[\s,]+)*(I|we)(?=['’\s])/iu.exec(left.trim())?.[1]
  const forms = verbForms(lead)
  const isModal = /^(?:can['’]?t|can|cannot|doesn['’]t|won['’]t|isn['’]t|must|mustn['’]t)$/u.test(lead)
  if ((forms.length === 0 && !isModal) || lead !== lead.toLowerCase()) return null
  if (subject !== undefined) {
    const isVerb =
      forms.some(({ form }) => form === 'base' || form === 'past') ||
      /^(?:am|have|don't|can't|cannot|won't)$/u.test(lead)
    const isObject = /(?:^|\s)(?:a|an|the|my|our|to)$/iu.test(left.trim()) || wordsIn(right).length < 2
    // "I like to cook and bake", "I love cats and work": nouns and infinitives go on as they began.
    const isSeries = /\bto\s+\w+$/u.test(left.trim())
    return isVerb && !isObject && !isSeries ? subject : null
  }
  const isThird = isModal || forms.some(({ form }) => form === 'third') || /^(?:is|was|has)$/u.test(lead)
  const named = subjectOf(left.trim())
  return isThird && named !== undefined && wordsIn(right).length >= 2 ? named : null
}

/** What stands before the first verb of a clause. */
function subjectOf(clause: string): string | undefined {
  const words = [...clause.matchAll(/[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu)]
  const at = words.findIndex((word, index) => index > 0 && isFiniteVerb(word[0], words[index - 1]?.[0]))
  const verb = words[at]
  const subject = clause
    .slice(0, verb?.index ?? 0)
    .replace(/[\s,;]+$/u, '')
    .replace(/^(?:this|last|next)\s+(?:year|month|week|term|season|spring|summer|autumn|winter)\s+/iu, '')
  return at === -1 || at > 6 || /^(?:there|it|this|that|what|which|who|if|when)$/iu.test(subject) ? undefined : subject
}
