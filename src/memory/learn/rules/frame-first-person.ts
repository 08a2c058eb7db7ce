import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { adverbs, beingFrame } from './frame-being.ts'
import { doingFrame, passive } from './frame-doing.ts'
import { calledFrame, isPronounOnly, likes, liking, topicFrom } from './frame-liking.ts'
import { clip } from './frame-possessive.ts'
import { nounPhrase, wordsOf } from './phrases.ts'
import { formsOfObject, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm } from './verbs.ts'

const subject = new RegExp(
  String.raw`^(?<who>I|we)(?<short>['’](?:m|re|ve|d|ll)|m|ve)?\s+(?<adverbs>(?:(?:${adverbs})\s+)*)`,
  'iu',
)

/** "I …" and "we …": what the speaker is, does, has and likes. */
export function firstPersonFrame(text: string): Frame | null {
  const match = subject.exec(text)
  if (match === null) return null
  const who = match.groups?.who?.toLowerCase() === 'we' ? ('we' as const) : ('I' as const)
  const short = (match.groups?.short ?? '').replace(/^['’]/u, '')
  const rest = text.slice(match[0].length).trim()
  const always = /\b(?:always|never|usually)\b/iu.test(match.groups?.adverbs ?? '')
  const isNever = /\bnever\b/iu.test(match.groups?.adverbs ?? '')
  if (short === 'm' || short === 're') return beingFrame(who, rest)
  if (short === 've') return pastFrame(who, rest)
  if (short === 'd') return wishFrame(who, rest)
  if (short === 'll') return plannedFrame(who, rest)
  const [first = ''] = wordsOf(rest)
  const lower = first.toLowerCase()
  const tail = rest.slice(first.length).trim()
  if (/^(?:am|are|was|were)$/u.test(lower)) return beingFrame(who, tail, lower)
  if (/^(?:will|shall)$/u.test(lower)) return plannedFrame(who, tail)
  if (
    /^(?:have|had)$/u.test(lower) &&
    /^(?:(?:always|never|just|also|already|recently|not)\s+)*(?:been|\p{L}+ed|started|begun|worked|lived|known|had|got|used|moved|learned|become|taken|written|read|bought|sold|made|built|won|met|seen|gone|done|chosen|decided|switched)\b/iu.test(
      tail,
    )
  )
    return pastFrame(who, tail)
  if (/^(?:would)$/u.test(lower)) return wishFrame(who, tail)
  const negated = /^(?:don['’]?t|do not|can['’]?t|cannot|won['’]?t|didn['’]?t|never)\s+(?<more>.+)$/iu.exec(rest)
  if (negated !== null) return negatedFrame(who, negated.groups?.more ?? '')
  if (lower === 'can') return doingFrame(who, tail, { isAbility: true })
  return doingFrame(who, rest, { isHabit: always, isNegative: isNever })
}

/** "I've been learning it since …", "I've moved to …", "I had my first lesson in May". */
function pastFrame(who: 'I' | 'we', rest: string): Frame | null {
  const text = rest.replace(new RegExp(String.raw`^(?:(?:${adverbs}|not)\s+)+`, 'iu'), '')
  const been = /^been\s+(?<more>.+)$/iu.exec(text)
  if (been === null) return doingFrame(who, text, {})
  const more = (been.groups?.more ?? '').replace(new RegExp(String.raw`^(?:(?:${adverbs})\s+)+`, 'iu'), '')
  const [first = ''] = wordsOf(more)
  return asForm(first.toLowerCase(), 'gerund') !== undefined || /^\p{Ll}{3,}ing$/u.test(first)
    ? doingFrame(who, more, { isGerund: true })
    : beingFrame(who, more, 'was')
}

/** "I'd prefer tea", "I'd rather not fly". Other wishes are not settled. */
function wishFrame(who: 'I' | 'we', rest: string): Frame | null {
  const [, wish] =
    /^(?:much\s+)?(?:prefer|rather|love|like)\s+(?:to be called\s+|it if\s+|that\s+)?(.+)$/iu.exec(rest) ?? []
  if (wish === undefined) return null
  if (/^(?:prefer|like) to be called/iu.test(rest)) return calledFrame(wish)
  if (
    /^(?:you\b|to (?:know|ask|see|hear|learn more)|help|some help|a )/iu.test(wish) &&
    !/^(?:much )?prefer/iu.test(rest)
  )
    return null
  return liking('prefer', wish.replace(/^(?:have|get|use|take|be given)\s+/iu, ''), who)
}

/** "I'll be in Rome from 3 to 7 May", "we will launch on Monday". */
function plannedFrame(who: 'I' | 'we', rest: string): Frame | null {
  const text = rest.replace(new RegExp(String.raw`^(?:(?:${adverbs}|not)\s+)+`, 'iu'), '')
  const isNegative = /^not\b/iu.test(rest)
  const [first = ''] = wordsOf(text)
  if (first.toLowerCase() === 'be') return beingFrame(who, text.slice(2).trim())
  const frame = doingFrame(who, text, { isNegative })
  return frame === null ? null : { ...frame, rule: 'a plan' }
}

/** "I don't eat meat", "we can't deploy on Fridays". */
function negatedFrame(who: 'I' | 'we', rest: string): Frame | null {
  const text = rest.replace(new RegExp(String.raw`^(?:(?:${adverbs}|any ?more|any longer)\s+)+`, 'iu'), '')
  const [first = ''] = wordsOf(text)
  const verb = asForm(first.toLowerCase(), 'base')
  const tail = text.slice(first.length).trim()
  if (/^(?:stand|bear)$/u.test(first.toLowerCase())) return liking('hate', tail, who)
  if (
    verb === undefined ||
    (passive.test(verb.lemma) && !/^(?:trust|eat|speak)$/u.test(verb.lemma)) ||
    tail === '' ||
    isPronounOnly(tail)
  )
    return null
  if (likes.test(verb.lemma)) {
    if (/^(?:you|to be|me|care|mind)\b/iu.test(tail) || verb.lemma === 'care') return null
    return liking(verb.lemma, tail, who, true)
  }
  const object = nounPhrase(tail)
  if (object === '') return null
  if (verb.lemma === 'have' && !saysWhen(tail) && /^(?:any (?:idea|questions?)|time|access|much|enough)\b/iu.test(tail))
    return null
  return {
    rule: `"${who} don't …"`,
    type: 'preference',
    name: clip(`not ${verb.lemma} ${object}`),
    forms: [
      `do ${who} ${verb.lemma}`,
      `${verb.lemma} ${object}`,
      ...formsOfObject(tail),
      ...formsOfValue(tail),
      ...sayingsOf(tail),
      ...(/^(?:eat|drink)$/u.test(verb.lemma) ? ['diet', 'dietary'] : []),
    ],
    topic: topicFrom(tail),
  }
}
