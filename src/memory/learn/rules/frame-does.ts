import { datesIn, saysWhen } from './dates.ts'
import type { Frame } from './frame.ts'
import { clip, headOf } from './frame-possessive.ts'
import { everyday, isPerson } from './nouns.ts'
import {
  firstWords,
  isBareNoun,
  isNamed,
  isParticular,
  isPersonal,
  ofOurs,
  oursIn,
  placed,
  subjectNames,
} from './particular.ts'
import { nounPhrase, properNames, wordsOf } from './phrases.ts'
import type { Split } from './split-clause.ts'
import { eventForms, formsOfObject, formsOfPhrase, formsOfValue, sayingsOf } from './surface-forms.ts'
import { asForm, auxiliaries, type Verb } from './verbs.ts'

/** One value at a time: said with another value, it replaces the one before. */
const functional =
  /^(?:be|live|work|reside|run|sit|lead|head|own|manage|report|cost|start|begin|end|launch|open|close|leave|arrive|depart|expire|move|weigh|last|belong|depend|deploy|host|release|retire|graduate|marry|meet|happen|take|turn|become|stay|charge|pay|earn|serve|use to|bear|replace|point|listen|sleep|wake)$/u

const staying = /^(?:sit|hang|stand|lie|live|hide|rest|stay)$/u

/** "Priya leads billing", "our servers run on Hetzner", "my sister lives in Rome". */
export function doesFrame(
  { subject, verb, rest }: Split,
  plain: string,
  isOwn: boolean,
  isAsked: boolean,
): Frame | null {
  const own = subject.replace(/^(?:my|our)\s+/iu, '')
  const who = (isOwn ? own : plain).replace(/\s+(?:there|here)$/iu, '')
  const owned = /^(?<owner>.+?)['’]s?\s+(?<noun>[^'’]+)$/u.exec(who)?.groups
  const found = verbOf(verb)
  const lemma = found?.lemma ?? verb.replace(/s$/u, '')
  const helper = auxiliaries.has(verb)
  const isAboutNothing =
    /^(?:seem|look|sound|feel|say|think|mean|make|let|try|need|want|fail|crash|help|appear|tend|show|break)$/u.test(
      lemma,
    )
  const hasValue = properNames(rest, { atStart: false }).length > 0 || /\d/u.test(rest) || saysWhen(rest)
  const isConcrete =
    isNamed(subject) || isOwn || ofOurs.test(subject) || hasValue || (staying.test(lemma) && placed.test(rest))
  // "Juniper runs on Debian": a word that begins the sentence is a name when what follows is about one thing.
  const isFelt =
    /^(?:give|make|cause|help|keep|calm|wake|hurt|remind|bother|annoy|scare|upset|cost|relax)$/u.test(lemma) &&
    /\b(?:me|us|my|our)\b/iu.test(rest) &&
    !/^(?:it|that|this|these|those|he|she|they|you|the|which|what)\b/iu.test(subject)
  const mayBeName = /^\p{Lu}\p{Ll}+$/u.test(subject) && !/ing$|s$/u.test(subject) && hasValue
  // "Bins go out on Wednesdays"
  const isRegular =
    saysWhen(rest) &&
    isBareNoun(subject) &&
    /^(?:go|come|open|close|start|begin|end|leave|arrive|run|meet|happen|take)$/u.test(lemma)
  if (!isParticular(subject) && !isAsked && !mayBeName && !isFelt && !isRegular) return null
  if (!isAsked && !isFelt && (!isConcrete || (isAboutNothing && !isNamed(subject) && !isOwn))) return null
  if (rest === '' && !(isAsked && isNamed(subject))) return null
  const particle =
    /^(?:on|in|at|for|to|with|by|as|from|into|about|under|over|up|out|off|until)\b/iu.exec(rest)?.[0] ?? ''
  const object = nounPhrase(rest.replace(/^(?:on|in|at|for|to|with|by|as|from|into|about)\s+/iu, ''))
  const isFunctional = functional.test(lemma) && !helper
  const name = isFunctional
    ? `${who} ${verb}${particle === '' ? '' : ` ${particle.toLowerCase()}`}`
    : `${who} ${verb} ${firstWords(rest)}`
  const names = subjectNames(subject)
  const connected = [...names, ...properNames(rest, { atStart: false })].filter((one) => datesIn(one).length === 0)
  const isRelation =
    names.length > 0 &&
    /^(?:lead|head|manage|own|report|run|mentor|supervise|coach|chair|teach|marry|know|represent|replace|maintain|depend|belong|support|work)$/u.test(
      lemma,
    ) &&
    !isOwn &&
    object !== ''
  const relative = wordsOf(who)
    .map((word) => word.toLowerCase())
    .find(isPerson)
  const noun = relative ?? headOf(who)
  return {
    rule: 'a statement about a named thing',
    type: isRelation ? 'relation' : 'entity',
    name: clip(name),
    forms: [
      ...formsOfPhrase(who),
      ...oursIn(subject),
      ...(relative === undefined ? [] : [relative]),
      ...(owned?.noun === undefined || properNames(owned.owner ?? '', { atStart: false }).length > 0
        ? []
        : formsOfPhrase(owned.noun)),
      ...(isOwn && everyday.has(headOf(who)) ? [`my ${headOf(who)}`, `our ${headOf(who)}`] : []),
      ...formsOfValue(subject, { atStart: true }),
      ...formsOfObject(rest.replace(/^(?:on|in|at|for|to|with|by|as|from|into|about)\s+/iu, '')).filter(
        (form) => form.includes(' ') || isRelation || !helper,
      ),
      ...formsOfValue(rest),
      ...(object === '' || saysWhen(object) ? [] : [`${lemma} ${object}`, `${verb} ${object}`]),
      ...(saysWhen(rest) ? [...eventForms(lemma), `${who} ${lemma}`] : []),
      ...(isRelation && /^(?:lead|head|manage|run|own|maintain)$/u.test(lemma)
        ? [`${object} lead`, `head of ${object}`, `in charge of ${object}`, `responsible for ${object}`]
        : []),
      ...sayingsOf(`${who} ${rest}`),
    ],
    isSlot: isFunctional,
    ...(isRelation
      ? {
          participants: connected.length > 1 ? connected.slice(0, 4) : [...connected, object],
          relation: `${verb}${particle === '' ? '' : ` ${particle}`}`,
        }
      : {}),
    topic: {
      referent: names[0] ?? (isOwn ? `my ${own}` : subject),
      isPerson: isPerson(noun) || isPersonal(subject, rest),
      noun,
    },
  }
}

function verbOf(word: string): Verb | undefined {
  return asForm(word, 'third', 'past') ?? asForm(word, 'base') ?? asForm(word.replace(/s$/u, ''), 'base')
}
