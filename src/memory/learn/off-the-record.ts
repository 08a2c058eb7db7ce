const keeps = '(?:save|store|remember|record|log|memori[sz]e|write down|note|keep(?: an?y? (?:record|note) of)?)'
const kept = '(?:saved|stored|remembered|recorded|logged|memori[sz]ed|written down|kept)'
/** Words for the message itself. "Don't store this in the session" is about a program, and "don't keep it too long" about a thing, so they do not count. */
const thisMessage = String.raw`(?:this|that|it|these|any of (?:this|it|that)|anything|what i|my (?:last )?message)\b(?!\s(?:in|as|to|into|under|with|by|using|too|so|for)\s(?!(?:your|any|memory|mind|file|later)\b))`
const unrecorded = new RegExp(
  [
    String.raw`\boff[ -](?:the[ -])?record\b|\b(?:not|isn['’]?t) for (?:the record|(?:your |the )?memory)\b|\bout of your memory\b|(?<!n['’]?t |not |never )\bforget this (?:message|chat|conversation)\b`,
    String.raw`(?<before>\b\p{L}{1,8}['’]?\p{L}{0,3}\s)?\b(?:do not|don['’]?t|never)\s(?:ever\s|please\s)?${keeps}\s${thisMessage}`,
    String.raw`\b(?:no need to|needn['’]?t|need not|(?:should|must)(?:n['’]?t| not)|(?:don['’]?t|do not) (?:need to|have to|want you to))\s${keeps}\s${thisMessage}`,
    String.raw`\b(?:do not|don['’]?t) (?:put|add|commit) (?:this|that|it|any of this) (?:in|into|to) (?:your )?memory\b`,
    String.raw`\b(?:nothing|none) (?:of|in|from) this\b[^.!?\n]{0,40}\b${kept}\b|\bthis(?: message| chat| conversation)?(?: is| should| must)? not (?:to )?be ${kept}\b(?! (?:in|as|on|by)\b)`,
  ].join('|'),
  'giu',
)

/** Whether a message asks not to be stored: "off the record", "don't save this", "do not remember this". */
export function isOffTheRecord(message: string): boolean {
  for (const match of message.matchAll(unrecorded)) {
    // "I don't remember this" is not a request.
    const before = match.groups?.before?.trim().toLowerCase() ?? ''
    if (!['i', 'we', 'you', 'they', 'he', 'she', 'people', 'who', 'to'].includes(before)) return true
  }
  return false
}
