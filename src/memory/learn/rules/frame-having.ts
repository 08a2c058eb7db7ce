import type { Frame } from './frame.ts'
import { activityAfter, type Doing } from './frame-activity.ts'
import { isPronounOnly } from './frame-liking.ts'
import { clip, headOf } from './frame-possessive.ts'
import { isPerson } from './nouns.ts'
import { nounPhrase, properNames } from './phrases.ts'
import { formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'
import type { Verb } from './verbs.ts'

/** "I have two cats, Miso and Taro", "I have a flight on Friday". */
export function having(who: 'I' | 'we', verb: Verb, tail: string, how: Doing): Frame | null {
  const to = /^to\s+(.+)$/iu.exec(tail)
  if (to !== null) return activityAfter(who, to[1] ?? '')
  const object = nounPhrase(tail.replace(/^(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)\s+/iu, ''))
  if (
    object === '' ||
    isPronounOnly(tail) ||
    /^(?:idea|question|problem|issue|look|fun|time|chance|sense|feeling|point|clue|doubt|thoughts?)$/iu.test(
      headOf(object),
    )
  )
    return null
  const [named] = properNames(tail, { atStart: false })
  const head = headOf(object)
  if (/^(?:quid|pounds?|euros?|dollars?|francs?)$/iu.test(head) || /^[€$£]\d/u.test(tail))
    return {
      rule: `"${who} get …"`,
      type: 'entity',
      name: clip(`${who} ${verb.lemma} ${tail}`),
      forms: [
        `do ${who} ${verb.lemma}`,
        'get paid',
        `are ${who} paid`,
        'fee',
        ...formsOfValue(tail),
        ...formsOfObject(tail.replace(/^.*?\sfor\s+/iu, '')),
      ],
      topic: null,
    }
  return {
    rule: `"${who} have …"`,
    type: 'entity',
    name: clip(`${how.isNegative === true ? 'no ' : ''}${object}`),
    forms: [
      ...formsOfPhrase(object),
      ...(isPerson(head)
        ? [head, 'pet', 'pets'].slice(
            0,
            /^(?:cat|dog|pet|horse|hamster|parrot|rabbit|goldfish|puppy|kitten)$/u.test(head) ? 3 : 1,
          )
        : []),
      ...(/\b(?:called|named)\b/iu.test(tail) || named !== undefined
        ? [`${head} called`, `${head} name`, `${head}'s name`]
        : []),
      `do ${who} have ${object}`,
      ...(verb.lemma === 'own' ? [`do ${who} own`] : []),
      ...formsOfObject(tail),
      ...formsOfValue(tail),
      ...sayingsOf(tail),
    ],
    topic: { referent: named ?? `my ${object}`, isPerson: isPerson(head), noun: head },
  }
}
