import { forgetRequestIn } from './forget-requests.ts'
import type { Span } from './parts.ts'
import { wordsOf } from './phrases.ts'

/** Which of the units around it a wish not to keep something is about. */
export type Extent = 'itself' | 'before' | 'rest' | 'after' | 'paragraph' | 'message'

/** Said of a memory, and hardly of anything else. */
const keeping = 'stor(?:e|ing)|sav(?:e|ing)|remember(?:ing)?|record(?:ing)?|memori[sz](?:e|ing)|retain(?:ing)?'
/** Said of much else: "never add flour". Only with what points at something said, or at where it would be kept. */
const putting = String.raw`(?:writ(?:e|ing)|not(?:e|ing)|keep(?:ing)?|log(?:ging)?|add(?:ing)?|put(?:ting)?|includ(?:e|ing)|fil(?:e|ing)|jot(?:ting)?)(?=\s+(?:(?:this|that|it|these|those|any|anything|them|what|where|who|down|the following)\b|.{0,60}\b(?:down|memory|notes?|record|file|the list)\b))`
const refusing = new RegExp(
  String.raw`\b(?:(?<!\b(?:i|we|they|he|she|people|you)\s+(?:really\s+|also\s+|just\s+)?)(?:do not|don['’]?t|never|please don['’]?t|dont|mustn['’]t|must not|shouldn['’]t|should not|no need to|not to|rather you didn['’]t|(?:i['’]d|i would) (?:rather|prefer)(?: that)? you (?:didn['’]t|not|did not)|without|you needn['’]t|needn['’]t|stop)\s+(?:ever\s+|please\s+|actually\s+)?(?:(?:${keeping})\b(?!\s+(?:about|how|why|to\b))|${putting})|off the record|(?:just|only)\s+for (?:this|the current) (?:conversation|chat|session|talk)|for this (?:conversation|chat|session) only|not for (?:the|your|my) (?:notes?|memory|records?|file)|keep (?:this|that|it) (?:to yourself|private|secret|quiet)|not for the record|(?:this|that|it|which) (?:stays|remains|is to stay|must stay|should stay) (?:in this room|in here|here|between|with (?:you|us|me)|private|secret)|between (?:us|you and me|you and i|ourselves)|just between|for your ears only|(?:not|isn['’]t) (?:meant )?(?:to be|for) (?:stor(?:ed|ing|age)|sav(?:ed|ing)|record(?:ed|ing)|remember(?:ed|ing)|your (?:memory|notes))|(?:should|must) not be (?:stored|saved|recorded|remembered|kept)|not (?:stored|saved|recorded)|keep (?:this|that|it) (?:out of|off) (?:your )?(?:memory|notes|the record)|leave (?:this|that|it) out of (?:your )?(?:memory|notes)|forget (?:(?:what|everything|all(?: of)? that|anything) i(?:['’]ve| have)? (?:just )?(?:said|told|wrote|mentioned)|this|that|it|i (?:said|mentioned|told)|about (?:this|that|it))|do not store|\[?(?:do[- ]?not[- ]?store|no[- ]?store|not to be stored|private, do not keep)\]?)`,
  'iu',
)

const wholeMessage =
  /\b(?:(?:any|none|nothing|all) of (?:this|that|it|the above|what i)|this (?:whole |entire )?(?:message|conversation|chat)|anything (?:i|from|in|of)|everything (?:i|in|from|above)|the above|what i(?:['’]ve| have)? (?:said|told you|written|wrote|shared)(?: here| above)?$|any of it)\b/iu
const following =
  /(?::\s*$|\b(?:the following|what follows|the next (?:part|bit|thing|sentence|line)|what i(?:['’]m| am) (?:about|going) to)\b)/iu
const preceding =
  /\b(?:that|it|that one|the last (?:one|bit|part|thing|sentence)|that last|what i just said|that (?:part|bit)|those)\b/iu

/** Whether a text asks for something not to be kept. */
export const asksNotToStore = (text: string): boolean => {
  const plain = text.replace(/\b(?:don['’]?t|do not|never) forget\b/giu, '')
  return refusing.test(plain)
}

/**
 * What a wish not to keep something is about. A wish that holds a statement ("off the record, my salary is …") is about
 * itself. One that only points is about what it points at: the whole message, what follows, or what came just before;
 * "this" at the beginning is about what follows, elsewhere about its paragraph.
 */
export function extentOf(text: string, { isFirst, isAlone }: { isFirst: boolean; isAlone: boolean }): Extent {
  const bare = text.trim().replace(/[.!…)\]\s]+$/u, '')
  if (wholeMessage.test(bare)) return 'message'
  if (/:\s+\S/u.test(bare)) return 'rest'
  if (following.test(bare)) return 'after'
  if (!isAlone && saysSomething(bare)) return 'itself'
  if (isFirst) return 'paragraph'
  const pointed = bare.replace(refusing, (found) => / (?:this|that|it)$/iu.exec(found)?.[0] ?? '')
  if (/\bthis\b/iu.test(pointed)) return 'paragraph'
  if (preceding.test(pointed)) return 'before'
  return saysSomething(bare) ? 'itself' : 'paragraph'
}

/** Whether more is said than the wish itself. */
function saysSomething(text: string): boolean {
  const rest = text
    .replace(refusing, ' ')
    .replace(
      /\b(?:please|but|and|so|ok|okay|anywhere|though|however|it|this|that|these|those|them|down|in|to|from|your|my|the|memory|notes|file|files|database|anything|for|me|now|just|one|last|part|bit|record|of|course|thanks|i|said|told|you|is|are|us|here|stays|strictly|private|confidential)\b/giu,
      ' ',
    )
  return /[\p{L}\p{N}]{2,}/u.test(rest)
}

const speaksOf = (text: string, topic: string): boolean => {
  const said = new Set(wordsOf(text.toLowerCase()))
  const meant = wordsOf(topic.toLowerCase()).filter(
    (word) => !/^(?:my|our|the|an?|i|we|about|of|in|at|to)$/u.test(word),
  )
  return meant.length > 0 && meant.every((word) => said.has(word))
}

/** Marks every unit that a wish in the message covers. `units` are in order; `block` and `sentence` tell what belongs together. */
export function notToBeStored(
  units: readonly (Span & {
    readonly text: string
    readonly opener: string
    readonly block: number
    readonly sentence: number
  })[],
  leads: readonly (Span & { readonly text: string })[],
): ReadonlySet<number> {
  const covered = new Set<number>()
  for (const [index, unit] of units.entries()) {
    const said = `${unit.opener} ${unit.text}`.trim()
    const forgotten = forgetRequestIn(unit.text)
    if (forgotten !== null) {
      // Told and taken back in one message, it is not kept in the first place.
      for (const [at, other] of units.entries()) if (at < index && speaksOf(other.text, forgotten)) covered.add(at)
      continue
    }
    if (!asksNotToStore(said)) continue
    covered.add(index)
    const extent = extentOf(said, { isFirst: index === 0, isAlone: false })
    const cover = (test: (other: (typeof units)[number], at: number) => boolean): void => {
      for (const [at, other] of units.entries()) if (test(other, at)) covered.add(at)
    }
    switch (extent) {
      case 'itself':
        // What the sentence goes on to say is meant as well.
        cover((other, at) => at > index && other.sentence === unit.sentence)
        break
      case 'message':
        cover(() => true)
        break
      case 'rest':
        cover((other, at) => at > index && other.block === unit.block)
        break
      case 'after':
        cover((other, at) => at > index && (other.block === unit.block || other.block === unit.block + 1))
        break
      case 'before':
        if (index > 0) covered.add(index - 1)
        break
      case 'paragraph':
        cover((other) => other.block === unit.block)
        break
    }
  }
  for (const lead of leads) {
    if (!asksNotToStore(lead.text)) continue
    const first = units.find(({ start }) => start >= lead.end)
    if (first === undefined) continue
    for (const [at, other] of units.entries())
      if (other.block === first.block && other.start >= lead.end) covered.add(at)
  }
  return covered
}
