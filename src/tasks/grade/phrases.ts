/** Whether an answer says that something is not known, or not said, or not found. */
export const saysUnknown = (answer: string): boolean => unknown.test(plainly(answer))

const plainly = (text: string): string => text.normalize('NFKC').replaceAll('’', "'").replaceAll(/[*_`]/gu, '')

const not = "(?:not|n't|never|no)"
const unknown = new RegExp(
  [
    `(?:(?:do|does|did|have|has|had|is|are|was|were|could)\\s*${not}|can't|cannot)\\b[^.!?\\n]{0,60}?\\b(?:know|knowledge|have|record|information|find|found|remember|recall|told|mention|mentioned|store|stored|saved|noted|see|aware|known|recorded|available|listed|specified|given|sure|contain|include|say|tell|share|shared|provided|covered|anything)\\b`,
    `\\bcannot\\s+(?:find|recall|tell|say|answer|know)\\b`,
    `\\b(?:no|without any)\\s+(?:\\w+\\s+){0,3}?(?:record|information|memory|mention|entry|note|data|details?|knowledge|idea|belief)\\b`,
    `\\bnothing\\b[^.!?\\n]{0,40}\\b(?:about|on|regarding|stored|saved|recorded|known|in)\\b`,
    `\\b(?:unknown|not known|never told|never mentioned|not in (?:my|the) (?:memory|notes|file|records?))\\b`,
    `\\b(?:haven't|hasn't|didn't|never|not)\\s+(?:been\\s+)?(?:told|mentioned|shared|given|said|stated|provided)\\b`,
    `\\bunable to (?:find|recall|answer|say|tell)\\b`,
    '不知道|没有(?:相关|任何)?(?:信息|记录|记忆|提到)|未(?:提及|记录|提供)|无(?:相关)?记录',
  ].join('|'),
  'iu',
)

const storing =
  'remember|save|store|memori[sz]e|note|record|keep|write\\s+(?:\\w+\\s+){0,3}?down|write\\s+(?:\\w+\\s+){0,4}?to|put\\s+(?:\\w+\\s+){0,3}?in(?:to)?|add\\s+(?:\\w+\\s+){0,3}?to'

/** Sentences of a prompt; a line is one as well. */
const sentences = (prompt: string): readonly string[] => plainly(prompt).split(/(?<=[.!?])\s+|\n+/u)

/**
 * Whether a prompt asks to keep something. "Do you remember …?" asks for it back, and "don't save this" asks for the
 * opposite.
 */
export const asksToStore = (prompt: string): boolean =>
  sentences(prompt).some((sentence) => {
    if (/记住|记下|保存|存储/u.test(sentence)) return !/不要|别|你还?记得/u.test(sentence)
    const command = new RegExp(
      `(?:^|[,;:(]\\s*|\\b(?:please|to|and|then|you|can you|could you|would you|also|also please|just)\\s+)(?:${storing})\\b`,
      'iu',
    )
    if (!command.test(sentence)) return false
    if (new RegExp(`(?:n't|not|never|without|no need to)\\s+(?:\\w+\\s+){0,2}?(?:${storing})`, 'iu').test(sentence))
      return false
    return !/\b(?:do|did|what|which|how|when|who|where|whether|if)\b[^,;]{0,40}\byou\b[^,;]{0,20}\b(?:remember|store|save|note|record|keep)/iu.test(
      sentence,
    )
  })

const confirming = new RegExp(
  [
    "\\b(?:saved|stored|noted|recorded|remembered|written|wrote|kept|added|updated|memori[sz]ed|captured|logged|created|filed|got it|done|understood|will remember|i'll remember|will keep|i'll keep|have (?:it|that|this|them)|keep (?:it|that|this|them) in mind|confirmed?)\\b",
    '已(?:经)?(?:记住|保存|记录|存储|写入)|记住了|好的',
  ].join('|'),
  'iu',
)
const failing =
  /(?:could|can|did|was|were|have|has)(?:\s*n't|\s+not|not)\s+(?:\w+\s+){0,3}?(?:save|saved|store|stored|write|written|record|recorded|remember|keep|able)|\b(?:unable|failed) to (?:save|store|write|record|remember|keep)/iu

/** Whether an answer says that something was kept. */
export const confirmsStoring = (answer: string): boolean => {
  const text = plainly(answer)
  return confirming.test(text) && !failing.test(text)
}
