/** Where things are kept: "memory/MEMORY.md", "my notes", "the list". */
const place = String.raw`(?:[\w./-]*memory/\S+|[\w/-]+\.(?:md|txt|json)|(?:(?:my|our|your|the|its)\s+)?(?:memory|notes?|notebook|list|file|records?|diary)(?:\s+file)?)`
const keeping =
  'remember|note(?: down)?|save|store|keep|memori[sz]e|write(?: down)?|record|jot(?: down)?|log|add|put|take down|hold on to'
const request = String.raw`(?:(?:hey|hi|hello|ok(?:ay)?|so|and|also|just|please|kindly|then)[,\s]+)*(?:(?:can|could|would|will) you\s+(?:please\s+|kindly\s+|also\s+|just\s+)*|i(?:['’]d| would) like you to\s+|i (?:want|need) you to\s+|please\s+)?(?:${keeping})\b`

/** "Save this to my notes, together with the following: …": what is to be kept stands behind the colon. */
const before = new RegExp(
  String.raw`^(?:${request}[^:\n]{0,160}?\b(?:following|below|these|this|that|it|them|(?:(?:in|into|to|on|at|from|of|my|our|your|the)\s+)${place}|\S+\.md)\b[^:\n]{0,80}|[^:.!?\n]{0,80}?\b(?:for|in|into|to)\s+${place})\s*:\s+(?=\S)`,
  'iu',
)

/** Length of what comes before the statements and only says that they are to be kept; 0 where there is nothing of the kind. */
export const announcementBefore = (text: string): number => before.exec(text)?.[0].length ?? 0

const asksToKeep = new RegExp(
  String.raw`^${request}(?:.{0,120}?\s(?:following|below|(?:some|a few|several|these|the) (?:\p{L}+ )?(?:things|facts|details|notes|information)|${place})(?![\p{L}\p{N}])|(?:\s+all(?: of)?)?\s+(?:this|these|that|it|them)(?=\s*(?:[.!?,]|$|(?:in|into|to|for|down|please|somewhere|all|as)\b)))`,
  'iu',
)

/** Whether a whole sentence asks for other sentences to be kept, and holds nothing itself. */
export const asksForTheRest = (text: string): boolean => asksToKeep.test(text) && !/:\s+\S/u.test(text)

const announced =
  /^(?:as (?:promised|agreed|discussed|mentioned|requested|announced)[,\s]+)?(?:here(?:['’]s| is| are| come)|below (?:is|are)|(?:the )?following (?:is|are)|these are|attached (?:is|are))\s+(?:(?:all|some|a few|the|my|our|more|other|important|basic|key|latest|current)\s+)*(?:details|facts|notes|information|info|data|dates|things|points|list|numbers|names|basics|plan|summary|overview|background|update|news|rest)\b[^:\d"“]*$/iu
const nothing =
  /^(?:there(?:['’]s| is)\s+)?(?:nothing|no need)\s+(?:here\s+)?(?:(?:that\s+)?(?:needs|has)\s+|(?:is\s+)?worth\s+|much\s+|else\s+)*(?:to\s+(?:be\s+)?)?(?:remember|not(?:e|ing)|sav(?:e|ing)|stor(?:e|ing)|keep|record|memori)\w*\b.{0,30}$/iu
const lost =
  /^(?:i|we)(?:['’]ve| have)?\s+(?:just\s+)?(?:lost|mislaid|misplaced|forgot|forgotten|deleted|can['’]?t (?:find|remember|recall)|cannot (?:find|remember|recall))\s+(?:(?:my|our|the|all|these|those|most of)\s+)*(?:notes?|notebook|list|everything|anything|details|a few things|some things|things|it all|the rest|what .{2,40})[.!]*$/iu
const aboutKeeping = new RegExp(
  String.raw`^(?:(?:so |just )*(?:that\s+)?you (?:can|could|may)|please|and|then)?\s*(?:${keeping}|use|check|read|open|look at|consult|update)\s+(?:(?:it|them|this|that|all(?: of (?:it|this|them))?|these|everything|the following)\s+)?(?:(?:in|into|to|from|at|on)\s+)?${place}(?:\s+(?:for me|please|now|too|as well|then|to answer|so that.*))?[.!]*$`,
  'iu',
)

/** A sentence about the notes themselves, or one that only says what comes next. */
export const isAnnouncement = (text: string): boolean =>
  announced.test(text) || nothing.test(text) || lost.test(text) || aboutKeeping.test(text)

const work =
  'summari[sz]e|translate|proofread|proof-read|rewrite|reword|rephrase|paraphrase|edit|shorten|condense|improve|polish|simplify|analy[sz]e|classify|correct|check|review|explain|reformat|format|convert|extract|critique|transcribe|spell-?check'
const worksOn = new RegExp(
  String.raw`^(?:(?:please|now|then|and|also|ok(?:ay)?)[,\s]+)*(?:(?:can|could|would|will) you\s+(?:please\s+)?)?(?:${work})\b[^:\n]{0,80}:(?<rest>\s+\S)?`,
  'iu',
)

/** "Summarise the following: …": what comes after is given to be worked on. `below`: it stands in the next paragraph. */
export function workGivenIn(text: string): 'here' | 'below' | null {
  const match = worksOn.exec(text.trim())
  if (match === null) return null
  const rest = match.groups?.rest?.trim()
  // Quotation marks say themselves how far it goes.
  return rest === undefined ? 'below' : /["“'‘`]/u.test(rest) ? null : 'here'
}
