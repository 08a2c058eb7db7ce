/** What people call something that was told: "the thing I said about the loan". */
const told = String.raw`(?:(?:everything|anything|all|whatever|what|all of what)\s+(?:that\s+)?(?:i|we|you|there)(?:['’]ve)?(?:\s+(?:have|had|may have|might have|is))?\s+(?:ever\s+|just\s+|earlier\s+|once\s+|already\s+)*(?:said|told(?:\s+you)?|tell\s+you|mentioned|wrote|written|know|knew|have|keep|kept|stored?|saved?|noted?|remember(?:ed)?|learn(?:ed|t)?)(?:\s+(?:to\s+)?you)?(?:\s+(?:on file|in (?:your |my )?(?:memory|notes)|stored|saved|earlier|before|down))*\s+(?:about|on|of|regarding|concerning)|(?:everything|anything|all)\s+(?:about|on|regarding|concerning)|(?:the|that|those|these|my|any|all|your|every)\s+(?:\p{L}+\s+)?(?:things?|parts?|bits?|stuff|notes?|entr(?:y|ies)|facts?|memor(?:y|ies)|details?|information|info|beliefs?)\s+(?:(?:that\s+)?(?:i|we|you)(?:['’]ve|\s+have)?\s+(?:said|told you|mentioned|wrote|noted|saved|stored|have|kept)\s+)?(?:about|on|regarding|concerning))`
const place = String.raw`(?:from|out of|in)\s+(?:your\s+|my\s+|the\s+|our\s+)?(?:memory(?:\s+file)?|notes|records|\S*MEMORY\.md)`
const asking = String.raw`(?:(?:please|kindly|now|then|so|ok(?:ay)?|actually|and|also|just|well|sorry|oh)[,\s]+)*(?:(?:can|could|would|will) you\s+(?:please\s+|kindly\s+|just\s+)*|you (?:can|may|should|could|must|need to)\s+(?:now\s+|just\s+|safely\s+|also\s+)*|(?:i(?:['’]d| would)? (?:like|want|need) you to|let['’]?s|it(?:['’]s| is) (?:ok(?:ay)?|fine|time) to)\s+)?(?:please\s+|just\s+)*`

const patterns: readonly RegExp[] = [
  // "Forget what I told you about my knee", "please delete everything you know about my sister".
  new RegExp(
    String.raw`^${asking}(?:forget|delete|erase|remove|drop|wipe|clear|discard|scrub|strike|disregard)\s+${told}\s+(?<about>.+)$`,
    'iu',
  ),
  // "Remove my locker number from your memory".
  new RegExp(
    String.raw`^${asking}(?:forget|delete|erase|remove|drop|wipe|clear|discard|scrub|strike)\s+(?<about>.+?)\s+${place}$`,
    'iu',
  ),
  new RegExp(
    String.raw`^${asking}(?:delete|erase|remove|drop|wipe|clear|discard|scrub|strike)\s+${place}\s+(?:that\s+|everything\s+|all\s+|anything\s+)*(?:about\s+)?(?<about>.+)$`,
    'iu',
  ),
  // "Forget my old address", "forget that I like jazz". Whatever else is forgotten need not be a memory.
  new RegExp(String.raw`^${asking}forget\s+(?:all\s+)?(?:about\s+|that\s+)?(?<own>\S.*)$`, 'iu'),
]

/** About the speaker, or something with a name. */
const isOwn = /^(?:(?:[Mm]y|[Oo]ur|I|[Ww]e|I['’]\p{L}+)\s|\p{Lu})/u
const atTheEnd = /,?\s+(?:please|thanks|thank you|now|again|for good)$/iu

/** "This", "what I said": it points at what was just said, and that is no request to forget what is known. */
const pointing = /^(?:it|this|that|these|those|them|(?:all|any) of (?:it|this|that)|what i (?:just )?said)$/iu

const longestRequest = 300

/**
 * What somebody asks to have forgotten; null where nothing of the kind is asked. To learn is not to forget: such a
 * request is told to whoever is in charge, and carried out by nobody on the side.
 */
export function forgetRequestIn(text: string): string | null {
  // A request is short; whatever is longer says something else.
  if (text.length > longestRequest) return null
  const plain = text
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[\s.!?…]+$/u, '')
    .replace(atTheEnd, '')
  for (const pattern of patterns) {
    const { about, own } = pattern.exec(plain)?.groups ?? {}
    const topic = about ?? (isOwn.test(own ?? '') ? own : undefined)
    if (topic !== undefined) return pointing.test(topic) ? null : topic
  }
  return null
}
