// How people lead up to a question. What is left when all of it is gone is the question.

const opening =
  /^(?:(?:ok(?:ay)?|so|now|then|and|also|but|or|plus|hi|hello|hey|thanks|thank you|great|good (?:morning|evening|afternoon)|quick question|one more(?: thing| question)?|another (?:one|question)|please|first(?:ly)?|second(?:ly)?|third(?:ly)?|next|finally|lastly|well|right|again|just|quick(?:ly)?|by the way|btw|for the record|in (?:short|one sentence)|before (?:we start|i forget)|from memory(?![/.])|if you (?:can|could|remember)|\/\w+)\b[\s,.:;!–—-]*)+/iu

const askingVerb = 'tell|remind|give|show|say|list|name|state|repeat|recite|recall|explain|describe|summari[sz]e'
const shells: readonly RegExp[] = [
  /^(?:can|could|would|will)\s+you\s+(?:please\s+|also\s+|kindly\s+)*(?=(?:read|open|check|look|use|consult|go|load|search|review)\b)/iu,
  // "Read the file and tell me …": what comes after is what is asked.
  /^(?:read|open|check|look|use|consult|go (?:to|through|back to)|load|search|review)\b[^?]{0,120}?(?:[,:;]|\band\b|\bto\b)\s*(?:then\s+|please\s+)*(?=(?:tell|remind|give|show|say|list|name|state|recall|find|what|which|who|when|where|how|why)\b)/iu,
  new RegExp(
    String.raw`^(?:can|could|would|will|may|might)\s+(?:you|i)\s+(?:please\s+|also\s+|kindly\s+|still\s+|quickly\s+)*(?:${askingVerb}|remember|ask|check|look up|find(?: out)?|have|get|know)\b(?:\s+(?:me|us|you|back|to me|for me))*(?:\s+(?:again|once more|exactly))?(?:\s+(?:of|about|out))?\s*[:,–—-]?\s*`,
    'iu',
  ),
  /^(?:do|did|don't|would)\s+you\s+(?:please\s+|still\s+|by any chance\s+|happen to\s+|perhaps\s+|even\s+)*(?:remember|know|recall|have|happen to know|keep)\b(?:\s+(?:any (?:idea|record|note|memory)|a (?:record|note) )(?:\s*of)?)?(?:\s+(?:of|about))?\s*[:,]?\s*/iu,
  /^(?:have|did|had)\s+i\s+(?:ever\s+|already\s+|once\s+)*(?:told|tell|mention(?:ed)?|said|say|given|give|shared|share)\s+(?:to\s+)?(?:you\s+)?(?:about\s+)?/iu,
  new RegExp(
    String.raw`^(?:${askingVerb})\b(?!\s*['’]s\b)(?:\s+(?:me|us|back|to me|for me))*(?:\s+(?:again|once more|exactly))?(?:\s+(?:of|about))?\s*[:,–—-]?\s*`,
    'iu',
  ),
  /^i(?:['’]d| would)?\s+(?:also\s+|really\s+|just\s+|still\s+|now\s+)*(?:like|love|want|need|wish)\s+(?:you\s+)?(?:also\s+)?to\s+(?:know|hear|be told|tell me|remind me|recall|see)\b(?:\s+(?:of|about|again))?\s*[:,–—-]?\s*/iu,
  /^(?:i\s+(?:wonder|forgot|forget|have forgotten|can(?:no|['’])t (?:remember|recall)|do(?: no|n['’])t (?:remember|recall|know)(?: any ?more)?)|i['’](?:ve|m) (?:forgotten|wondering|curious|not sure)|any idea|what about|how about|(?:let me|let['’]s) (?:know|hear|check|see)|remind me)\b(?:\s+(?:of|about))?\s*[:,–—-]?\s*/iu,
  /^(?:based on|according to|from|using|given|with|in|per|as (?:noted|stated|recorded|saved) in|going by)\b[^,:?]{1,80}[,:]\s*/iu,
]

export const withoutOpening = (text: string): string => text.replace(opening, '').trim()

/** "Could you look there and tell me where I live" asks where I live. */
export function withoutShells(text: string): string {
  let inner = text
  for (let round = 0; round < 3; round += 1) {
    const before = inner
    for (const shell of shells) inner = withoutOpening(inner.replace(shell, ''))
    if (inner === before) break
  }
  return inner
}
