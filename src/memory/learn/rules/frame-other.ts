import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { firstPersonFrame } from './frame-first-person.ts'
import { calledFrame } from './frame-liking.ts'
import { clip, headOf } from './frame-possessive.ts'
import { isPerson } from './nouns.ts'
import { nounPhrase, properNames, quotedIn, wordsOf } from './phrases.ts'
import { eventForms, formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm } from './verbs.ts'

const decided =
  /^(?:(?:and |so |today |yesterday |finally |in the end,? )*(?:we|i|the (?:team|board|committee|group|council|family|club|band|partners?))(?:['’]ve| have|['’]re| are| has)?\s+(?:also |now |just |finally |all |both |already |recently |jointly |unanimously )*(?:decided|chose|chosen|agreed|picked|settled|opted|gone|going|committed|voted|resolved|selected|standardi[sz]ed|will (?:use|go with)|are going with|went)(?:\s+(?<how>on|to|that|for|with|against|not to|upon|in favou?r of|ahead with))?|decision|decided)\s*:?\s+(?<what>.+)$/iu
const notDecided = /^(?:going|gone|went|are going)\s+(?!with|for|ahead)/iu

/** "That's settled: the party is at Grove House." */
const settledThat =
  /^(?:that|it)(?:['’]s|\s+is)\s+(?:now\s+|all\s+|finally\s+)?(?:settled|decided|final|agreed)(?:\s+then)?\s*[:,—–-]\s*(?:then\s+)?(?<what>.+)$/iu
/** "Oak it is." What was dropped for it stands before. */
const itIs =
  /^(?!(?:what|how|where|who|why|when|as|that|i|we|because|think|guess|like)\b)(?<what>\p{L}[^,;:]{1,60}?)\s+it is(?:\s+then)?$/iu
const dropped =
  /\b(?:let['’]?s|we(?:['’]ll| will)?|i(?:['’]ll| will))\s+(?:drop|ditch|scrap|skip|forget(?: about)?|leave out|abandon|dump)\s+(?:the\s+)?(?<old>[^;,.:]{2,50})/iu

/** "Let's drop the plum; oak it is." `whole` is the sentence it stands in. */
export function choiceFrame(text: string, whole: string): Frame | null {
  const what = itIs.exec(text)?.groups?.what
  if (what === undefined) return null
  const old = dropped.exec(whole)?.groups?.old?.trim()
  const frame = decisionFrame(`we decided on ${what}`)
  if (frame === null) return null
  return {
    ...frame,
    isWhole: true,
    ...(old === undefined
      ? {}
      : { kind: 'correction' as const, replaces: [old], forms: [...frame.forms, ...formsOfPhrase(nounPhrase(old))] }),
  }
}

/** "We decided to use Postgres because …" */
export function decisionFrame(text: string): Frame | null {
  const settled = settledThat.exec(text)?.groups?.what
  if (settled !== undefined) {
    const place = /^(?:the|our|my)\s+(?<what>[^,;:]{2,40}?)\s+(?:is|are|will be)\s+(?<how>.+)$/iu.exec(settled)?.groups
    const frame = decisionFrame(`we decided that ${settled}`)
    return frame === null || place?.what === undefined
      ? frame
      : { ...frame, name: clip(`${place.what} decision`), forms: [...formsOfPhrase(place.what), ...frame.forms] }
  }
  const match = decided.exec(text)
  const what = match?.groups?.what
  if (match === null || what === undefined) return null
  if (
    /\b(?:going|went|gone)\b/iu.test(match[0].slice(0, match[0].length - what.length)) &&
    !/^(?:with|for|ahead with)$/iu.test(match.groups?.how ?? '')
  )
    return null
  if (notDecided.test(what)) return null
  const core = (what.split(/\s+(?:because|since|so that|as it|due to|instead of|rather than)\s/iu)[0] ?? what).replace(
    /^(?:the|a|an)\s+/iu,
    '',
  )
  const isAgainst = /^(?:against|not to)$/iu.test(match.groups?.how ?? '')
  const object = core.replace(
    /^(?:to\s+)?(?:use|go with|adopt|choose|pick|keep|switch to|move to|stay with|stick with|buy|hire|launch|build|write|deploy|drop|have|hold|meet|paint|serve|sell|offer|do|run|make)\s+/iu,
    '',
  )
  const phrase = nounPhrase(object)
  const purpose = /\s(?:for|as|in|on|at)\s+(?:the\s+|our\s+|a\s+|an\s+)?(?<aim>[^,.;]+)$/iu.exec(core)?.groups?.aim
  const name = clip(
    purpose === undefined || saysWhen(purpose) || /^\d+$/u.test(purpose)
      ? `${isAgainst ? 'not ' : ''}${core.replace(/^(?:to|that)\s+/iu, '')}`
      : `${nounPhrase(purpose)} decision`,
  )
  return {
    rule: '"we decided …"',
    type: 'decision',
    name,
    forms: [
      ...(purpose === undefined ? [] : formsOfPhrase(nounPhrase(purpose))),
      ...formsOfPhrase(phrase),
      ...formsOfObject(object),
      ...formsOfValue(what),
      `decide ${purpose === undefined ? 'on' : `on ${nounPhrase(purpose)}`}`,
      'did we decide',
      'we decided',
      'we decide',
      ...(/\bagreed\b/iu.test(match[0]) ? ['we agreed', 'did we agree', 'agree to', 'our agreement'] : []),
      ...(/\b(?:chose|chosen|picked|selected)\b/iu.test(match[0]) ? ['did we choose', 'did we pick', 'we chose'] : []),
    ],
    topic: topicIn(object),
  }
}

const open =
  /^(?:(?:we|i|the team)\s+(?:(?:still\s+)?(?:have|need)\s+to\s+(?:decide|choose|agree|settle|figure out|find out|work out|determine|pick)|still\s+(?:don['’]?t know|do not know|can['’]?t decide|haven['’]?t (?:decided|agreed|chosen|settled|figured out))|haven['’]?t (?:yet )?(?:decided|agreed|chosen|settled|figured out|picked)(?: yet)?|have not (?:yet )?(?:decided|agreed|chosen|settled)|must still decide)|open question|still open|still undecided|undecided|to be decided|tbd|it(?:['’]s| is) (?:still )?(?:undecided|open|unclear|not (?:yet )?(?:decided|clear|settled)))\s*(?:is|:|on|about|for|—|–|-)?\s*(?<what>.+)$/iu

/** "We still have to decide which database to use." */
export function openQuestionFrame(text: string): Frame | null {
  const what =
    open.exec(text)?.groups?.what ??
    /^(?<what>.{3,60}?)\s+(?:is|are)\s+(?:still\s+)?(?:undecided|an open question|tbd|to be decided|not (?:yet )?decided(?: yet)?|still open)[.!]*$/iu.exec(
      text,
    )?.groups?.what
  if (what === undefined) return null
  const core = what
    .replace(
      /^(?:on|about|whether|if|which|what|who|when|where|how|to)\s+(?:to\s+|we\s+|(?:should|will|can)\s+(?:we\s+)?)*/iu,
      '',
    )
    .replace(/[?.!]+$/u, '')
    .replace(/\s+yet$/iu, '')
    .replace(/^(?:the|a|an|our)\s+/iu, '')
  return {
    rule: 'a question that is said to be open',
    type: 'open_question',
    name: clip(`open: ${core}`),
    forms: [
      ...formsOfObject(core),
      ...formsOfPhrase(nounPhrase(core)),
      ...formsOfValue(what),
      'still open',
      'still have to decide',
      'open question',
      'undecided',
    ],
    topic: topicIn(core),
  }
}

/** "Call me Sam." "Always answer in English." */
export function standingFrame(text: string): Frame {
  const name = /^(?:please\s+)?(?:you can\s+|just\s+)?(?:call|address) me\s+(?:as\s+)?(?<name>.+)$/iu.exec(text)?.groups
    ?.name
  if (name !== undefined && wordsOf(name).length <= 4) return calledFrame(name)
  const wish = text
    .replace(/^(?:please|from now on|in future|going forward|by default|whenever [^,]+|and|also|so)[,\s]+/giu, '')
    .replace(/[.!]+$/u, '')
  const isStyle =
    /\b(?:answer|answers|reply|replies|respond|response|responses|write|writing|speak|tone|language|explain|explanations|sentences|emoji|emojis|jargon|bullet|formatting|summar|concise|brief|polite|words|spelling|english|units|code comments|comment)/iu.test(
      wish,
    )
  return {
    rule: 'a lasting wish',
    type: 'preference',
    ...(isStyle ? { subtype: 'style' as const } : {}),
    name: clip(
      wish.replace(/^(?:always|never|do not|don['’]t)\s+/iu, (found) =>
        /always/iu.test(found) ? '' : found.toLowerCase(),
      ),
    ),
    forms: [
      ...formsOfObject(
        wish.replace(/^(?:always|never|do not|don['’]t|avoid|stop)\s+(?:\p{L}+\s+)?(?:in|with|to)?\s*/iu, ''),
      ),
      ...formsOfValue(wish),
      ...(isStyle ? ['answer style', 'writing style', 'how to answer'] : []),
    ],
    topic: null,
  }
}

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

/** "There are twelve people in our choir." */
export function existsFrame(text: string): Frame | null {
  const what = /^there(?:['’]s|\s+(?:is|are|was|were|will be))\s+(?<what>.+)$/iu.exec(text)?.groups?.what
  if (what === undefined) return null
  const isParticular =
    /\b(?:my|our|the)\b/iu.test(what) || properNames(what, { atStart: false }).length > 0 || saysWhen(what)
  if (
    !isParticular ||
    /^(?:a|an|some|no) (?:way|chance|problem|issue|error|bug|reason|question|need|difference)\b/iu.test(what)
  )
    return null
  const object = what.replace(
    /^(?:an?|some|about|around|exactly|only|\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+/iu,
    '',
  )
  return {
    rule: '"there is …"',
    type: 'entity',
    name: clip(wordsOf(object).slice(0, 6).join(' ')),
    forms: [
      ...formsOfPhrase(nounPhrase(object)),
      ...formsOfObject(object.replace(/^.*?\s(?:in|at|on)\s/iu, '')),
      ...formsOfValue(what),
    ],
    topic: topicIn(what),
  }
}

/** "Ramipril 5 mg once a day" is asked for as ramipril. */
const headsBefore = (text: string): readonly string[] => {
  const head = /^(?<head>\p{L}[\p{L}'’-]+(?:\s\p{L}[\p{L}'’-]*){0,2}?)\s+\d/u.exec(text)?.groups?.head
  return head === undefined ? [] : [head]
}

/** Something that was to be remembered, or an item of a list, in whatever words. */
export function plainFrame(text: string, rule: string): Frame | null {
  const words = wordsOf(text)
  if (words.length === 0) return null
  const phrase = nounPhrase(text)
  const name = clip(words.length <= 8 ? text.replace(/[.!]+$/u, '') : words.slice(0, 8).join(' '))
  return {
    rule,
    type: 'entity',
    name,
    forms: [
      ...headsBefore(text),
      ...(wordsOf(phrase).length <= 6 ? formsOfPhrase(phrase) : []),
      ...formsOfObject(text),
      ...formsOfValue(text, { atStart: true }),
      ...sayingsOf(text),
    ],
    topic: topicIn(text),
  }
}

function topicIn(text: string): Frame['topic'] {
  const [named] = [...quotedIn(text), ...properNames(text, { atStart: false })]
  if (named !== undefined) return { referent: named, isPerson: false, noun: null }
  const phrase = nounPhrase(text)
  return phrase === '' || wordsOf(phrase).length > 4
    ? null
    : { referent: phrase, isPerson: false, noun: headOf(phrase) }
}
