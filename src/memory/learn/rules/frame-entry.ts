import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { firstPersonFrame } from './frame-first-person.ts'
import { headsBefore } from './frame-plain.ts'
import { clip, headOf } from './frame-possessive.ts'
import { isPerson } from './nouns.ts'
import { properNames, quotedIn, wordsOf } from './phrases.ts'
import { eventForms, formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm } from './verbs.ts'

/** Labels that say what follows is to be kept, but not what it is. */
const emptyKeys =
  /^(?:note|notes|fact|facts|info|reminder|remember|important|fyi|ps|p\.s|update|correction|question|answer|q|a|todo|task|example|eg|e\.g|ie|i\.e|hint|warning|error|tip|step \d+|re|subject|here|this|that|following|the following|result|output|input|system|user|assistant|human|ai|me|you|summary|tl;dr|tldr|edit|https?|http|file|link|source|url|see|ok|okay|yes|no|hi|hello|hey|thanks|please|so|also|and|but)$/iu

/** "birthday: 4 May", "Editor = Helix". `about` is whom the lines around it are about. */
export function entryFrame(text: string, about: string | null): Frame | null {
  const match = /^(?<key>[\p{L}\p{N}][^:=\n]{0,70}?)\s*(?:[:=]|\s[-–—]>?|->|→)\s+(?<value>\S.*)$/u.exec(
    text.replace(/\*\*|__/gu, ''),
  )
  const key = match?.groups?.key?.trim()
  const value = match?.groups?.value?.trim()
  if (key === undefined || value === undefined) return null
  const plain = key.replace(/^(?:my|our|the)\s+/iu, '')
  const words = wordsOf(plain)
  if (words.length === 0 || words.length > 7 || emptyKeys.test(plain)) return null
  if (/\b(?:is|are|was|were|has|have|will|can|said|says|asked|told|wrote|please|you|should|would|could)\b/iu.test(key))
    return null
  const doing = words.length === 1 ? (asForm(plain.toLowerCase(), 'third', 'past', 'gerund') ?? null) : null
  // "Hearing: 14 May" is a hearing, "Learning: Basque" something that is done.
  const isEvent = asForm(plain.toLowerCase(), 'gerund') !== undefined && (saysWhen(value) || /\d/u.test(value))
  if (doing !== null && about === null && !isEvent) {
    const isPast = asForm(plain.toLowerCase(), 'past') !== undefined
    const done = firstPersonFrame(
      `I ${isPast ? doing.past : doing.lemma} ${saysWhen(value) && !/^(?:on|in|at)\b/iu.test(value) ? 'on ' : ''}${value}`,
    )
    const asked = isPast ? [plain, ...eventForms(doing.lemma)] : [plain]
    if (done !== null) return { ...done, rule: '"key: value"', forms: [...asked, ...done.forms] }
  }
  const owner = about === null || plain.toLowerCase().includes(about.toLowerCase()) ? null : about
  const head = headOf(plain)
  const isNamed = properNames(value, { atStart: false }).length > 0 || /^\p{Lu}/u.test(value)
  const called = owner === null ? plain : `${owner} ${plain}`
  const values = formsOfValue(value)
  return {
    rule: '"key: value"',
    type: /\b(?:favou?rite|preferred|likes|dislikes|hates|preference|style)\b/iu.test(plain)
      ? 'preference'
      : isPerson(head) && isNamed && owner === null
        ? 'relation'
        : 'entity',
    name: clip(called),
    forms: [
      ...(owner === null
        ? formsOfPhrase(plain)
        : [
            `${owner}'s ${plain}`,
            owner,
            ...formsOfValue(owner, { atStart: true }),
            ...formsOfPhrase(plain).filter((form) => form.includes(' ')),
          ]),
      ...headsBefore(plain),
      ...values,
      ...(wordsOf(value).length <= 3 ? formsOfObject(value) : []),
      ...(owner === null ? sayingsOf(plain) : []),
      ...(isNamed && owner === null && head !== 'name' ? [`${head} name`] : []),
      ...(saysWhen(value) ? [`${plain} date`] : []),
    ],
    isSlot: true,
    ...(isPerson(head) && isNamed && owner === null
      ? { participants: properNames(value, { atStart: false }).slice(0, 4), relation: plain }
      : {}),
    topic: {
      referent: quotedIn(value)[0] ?? properNames(value, { atStart: false })[0] ?? `my ${plain}`,
      isPerson: isPerson(head),
      noun: head,
    },
  }
}
