import { saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { topicIn } from './frame-plain.ts'
import { clip } from './frame-possessive.ts'
import { nounPhrase } from './phrases.ts'
import { formsOfObject, formsOfPhrase, formsOfValue } from './surface-forms.ts'

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
  /^(?:(?:we|i|the team)\s+(?:(?:still\s+)?(?:have|need)\s+to\s+(?:decide|choose|agree|settle|figure out|find out|work out|determine|pick)|still\s+(?:don['’]?t know|do not know|can['’]?t decide|haven['’]?t (?:decided|agreed|chosen|settled|figured out))|haven['’]?t (?:yet )?(?:decided|agreed|chosen|settled|figured out|picked)(?: yet)?|have not (?:yet )?(?:decided|agreed|chosen|settled)(?: yet)?|must still decide)|open question|still open|still undecided|undecided|to be decided|tbd|it(?:['’]s| is) (?:still )?(?:undecided|open|unclear|not (?:yet )?(?:decided|clear|settled)))\s*(?:is|:|on|about|for|—|–|-)?\s*(?<what>.+)$/iu

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
