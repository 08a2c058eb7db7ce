import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { announcementBefore } from './announcements.ts'
import { hasVerb } from './finite-verbs.ts'
import { isFirstName } from './given-names.ts'

/** What stands before the statement itself, and what it says about it. */
export type Opened = {
  /** Where the statement begins, counted from the beginning of the text. */
  readonly at: number
  /** Somebody asked for it to be remembered. */
  readonly isAsked: boolean
  readonly isCorrection: boolean
  readonly isHedged: boolean
}

const memory =
  'remember|note(?: down)?|save|store|keep(?: in mind)?|memori[sz]e|write down|record|jot down|log|make (?:a )?note(?: of)?|take note(?: of)?|add|put|bear in mind|know'
const asked = new RegExp(
  String.raw`^(?:(?:can|could|would|will) you (?:please |kindly |also )?(?:${memory})|(?:i(?:['’]d| would) like|i want|i need) (?:you )?to (?:please )?(?:${memory})|(?:please |also |and |just |kindly )*(?:${memory}|don['’]t forget|do not forget|never forget|don['’]t let me forget|do not let me forget|never let me forget|remind me)(?: please)?|you (?:should|need to|must|ought to|might want to) (?:${memory})|it would be (?:great|nice|good|helpful|useful|kind) if you (?:could|would) (?:${memory})|here(?:['’]s| is| are)(?: something| what| some(?: more)? (?:things|facts|info(?:rmation)?|details)| (?:a few|the|two|three|four|five|\w+) (?:things|facts|details))?(?: (?:i (?:want|need|['’]?d like) you to|you (?:should|need to)|to) (?:${memory}))?)(?:\s+(?:this|these|the following|down|it|what follows|me|about me|for (?:me|later|next time|future reference|the record)|in (?:your )?(?:memory|mind)|to (?:your |my )?(?:memory|notes|the list)|things?|facts?|information|details|for you))*\s*(?::|[—–-]\s|,?\s+that\s+|,\s+)\s*(?:that\s+)?`,
  'iu',
)
/** "Remember my locker is number 9": without "that", the statement begins at once. */
const askedBare =
  /^(?:please |also |and |just |kindly )*(?:remember|note|keep in mind|bear in mind|don['’]t forget|do not forget|never forget)\s+(?=(?:my|our|i|i['’]m|i['’]ve|we|we['’]re|the|he|she|it|they|this|his|her|their)\s)/iu
const askedNamed =
  /^(?:[Pp]lease |[Aa]lso |[Aa]nd |[Jj]ust )*(?:[Rr]emember|[Nn]ote|[Kk]eep in mind|[Bb]ear in mind|[Dd]on['’]t forget)\s+(?=\p{Lu}[\p{L}\p{N}]+['’\s])/u
const labelled =
  /^(?:important|note(?: to self)?|n\.?b\.?|reminder|fact|fyi|for your information|for the record|heads[- ]up|memo|info|key point|side note|ps|p\.s\.|also|update|good to know|background|context|quick note|one more thing|another thing|last thing|(?:and )?one more(?: fact)?)(?:\s*\([^()]{1,60}\))?\s*[:\-–—]\s*/iu
/** "Quick background: I'm …": words of no weight before a statement about the speaker. A name there is another speaker. */
const label =
  /^(?:\p{Lu}?\p{Ll}+(?:\s+[\p{Ll}\d]+){0,5})\s*:\s+(?=(?:[Ii]|[Ii]['’]\p{L}+|[Mm]y|[Oo]ur|[Ww]e|[Ww]e['’]\p{L}+|[Tt]he)\s)/u
const chatter =
  /^(?:oh|ah|sorry|omg|hey|hi|hello|ok|okay|well|so|yes|yeah|yep|right|btw|by the way|fyi|for your information|for the record|just so you know|you (?:may|might|will|must|probably)(?: already)?(?: have)? (?:noticed?|knows?|remember|recall|heard)|as you (?:may|might|probably) know|as you know|as i said(?: before)?|as i told you|as mentioned|like i said|also|plus|and|but|then|anyway|in fact|basically|honestly|frankly|to be honest|for (?:future|later) reference|if you (?:ever )?(?:need|want|have) to (?:reach|contact|call|know|find|write)[^,:.;]{0,30}|i(?:['’]m| am) telling you|i(?:['’]d| would) like to tell you|since you asked|to answer your question|you asked (?:me )?about [^,:.;]{2,40}|you wanted to know about [^,:.;]{2,40}|personally|of course|obviously|incidentally|additionally|furthermore|moreover|besides|finally|lastly|first(?:ly)?|second(?:ly)?|third(?:ly)?|next|further|some background|a bit about me|about me|one more thing|another thing|fun fact|(?:as )?it turns out|turns out|guess what|small detail|in case it matters|in case you need it|if you need it|if it matters|for context|for reference|again|today|thanks|thank you|great|cool|perfect|good|sure|please|hmm|um|uh|alright|all right|quick note|let me tell you|let me add|let me introduce myself|you should know|you need to know|it(?:['’]s| is) (?:important|worth (?:noting|knowing)|good to know)|the thing is|(?:i(?:['’]d| would) )?(?:just )?(?:like|want(?:ed)?) (?:you )?to (?:mention|add|say|let you know|tell you|point out)|i should (?:mention|add|say)|i forgot to (?:mention|say)|i (?:just )?realised|i (?:just )?realized)(?:\s*[,:!.…—–-]+\s*|\s+)(?:that\s+(?=(?:i|my|we|our|the|he|she|it|they|there|i['’]\p{L}+|\p{L}+['’]s)\s))?/iu
/** These words are also the beginning of what is said, unless a mark or a new subject follows. */
const needsMark =
  /^(?:right|then|again|today|next|first|second|third|good|great|cool|perfect|sure|so|but|and|also|plus|well|further|besides|finally|yes|please|personally)\b/iu
const subjectNext =
  /^(?:i|i['’]\p{L}+|im|ive|my|our|we|we['’]\p{L}+|the|he|she|it|they|his|her|their|this|that|there|(?!let['’]s)\p{L}+['’]s)(?=[\s'’])/iu
const nameNext = /^\p{Lu}[\p{L}\p{N}]*(?=[\s'’])/u
const subjectFollows = (text: string): boolean => subjectNext.test(text) || nameNext.test(text)

const correction =
  /^(?:no,? (?:wait,? )?actually|wait,? actually|actually|correction|small correction|typo(?: earlier| above)?|i mistyped|(?:sorry,? )?(?:my mistake|my bad)|scratch (?:that|what i (?:said|told you))(?: about [^,:.;]{2,60})?|it(?:['’]s| is) no longer [^,:.;]{1,40}(?=,)|i (?:got|had) (?:that|it|this) wrong(?: (?:earlier|before|last time|yesterday|just now))?|i (?:gave|told) you (?:the|a) wrong [\p{L} ]{2,30}|i (?:was|am) wrong(?: (?:before|earlier|about [^,:.;]{2,40}))?|i misspoke|i meant(?: to say)?|(?:sorry,? )?(?:what )?i meant (?:was|is)|let me correct (?:that|myself|something|this)|to correct myself|to be (?:more )?(?:precise|exact)|(?:(?:just |a |an |one |two |three |some |quick |small |few |couple of |more |little |other )*)(?:changes?|updates?|corrections?|news)(?=\s*[:—–])|update|change of plans?|strike that|wait|i take that back|on second thoughts?|i(?:['’]ve| have) changed my mind|oops|whoops|no)(?:\s*[,:;!.…—–-]+\s*|\s+)(?:i meant (?:to say )?(?:that )?|that\s+)?/iu
const correctionNeedsMark = /^(?:wait|no|oops|whoops|update)\b/iu

const hedge =
  /^(?:i (?:think|believe|guess|suppose|assume|reckon)|if i remember (?:correctly|right(?:ly)?)|as far as i (?:know|remember|can tell)|probably|i['’]m (?:pretty|fairly|quite) sure)(?:\s*,\s*|\s+)(?:that\s+)?/iu

/** "Ana: I live in Rome" is what Ana says. */
export const isSpeaker = (text: string): boolean => {
  const word = /^(?<word>\p{Lu}\p{L}+)\s*:/u.exec(text)?.groups?.word
  return (
    word !== undefined &&
    (!isOrdinaryWord(word.toLowerCase()) ||
      isFirstName(word) ||
      /^(?:User|Human|Assistant|System|Bot|Agent)$/u.test(word))
  )
}

/** Takes off, one after the other, everything that comes before the statement. */
export function opened(text: string): Opened {
  let at = 0
  let isAsked = false
  let isCorrection = false
  let isHedged = false
  for (let round = 0; round < 8; round += 1) {
    const rest = text.slice(at)
    const numbered = /^\(?\d{1,2}[.)]\s+(?=\p{L})/u.exec(rest)
    if (numbered !== null) {
      at += numbered[0].length
      continue
    }
    const announced = announcementBefore(rest)
    if (announced > 0 && rest.length > announced) {
      isAsked = true
      at += announced
      continue
    }
    const request = asked.exec(rest) ?? askedBare.exec(rest) ?? askedNamed.exec(rest) ?? labelled.exec(rest)
    if (request !== null && rest.length > request[0].length) {
      isAsked = true
      if (/^update/iu.test(rest)) isCorrection = true
      at += request[0].length
      continue
    }
    const taken = correction.exec(rest)
    if (
      taken !== null &&
      rest.length > taken[0].length &&
      (!correctionNeedsMark.test(rest) || /[,:;!.…—–-]/u.test(taken[0]))
    ) {
      isCorrection = true
      at += taken[0].length
      continue
    }
    const named = label.exec(rest)
    // "Judge: the Hon. P. Rao" is an entry, "quick note: the shop is closed" a statement.
    const isLabel =
      named !== null && (!/^the\s/iu.test(rest.slice(named[0].length)) || hasVerb(rest.slice(named[0].length)))
    if (named !== null && isLabel && !hasVerb(named[0]) && !isSpeaker(named[0])) {
      at += named[0].length
      continue
    }
    const hedged = hedge.exec(rest)
    if (hedged !== null && rest.length > hedged[0].length) {
      isHedged = true
      at += hedged[0].length
      continue
    }
    const talk = chatter.exec(rest)
    if (talk === null || rest.length === talk[0].length) break
    const isMarked = /[,:!.…—–]/u.test(talk[0])
    const next = rest.slice(talk[0].length)
    if (!isMarked && !subjectFollows(next) && !correction.test(next) && !asked.test(next) && !chatter.test(next)) break
    if (
      !isMarked &&
      needsMark.test(talk[0]) &&
      !subjectFollows(next) &&
      !correction.test(next) &&
      !asked.test(next) &&
      !chatter.test(next)
    )
      break
    at += talk[0].length
  }
  return { at, isAsked, isCorrection, isHedged }
}
