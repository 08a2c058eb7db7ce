import type { Ask } from './asks.ts'

const tellingVerb = 'tell|remind|give|show|list|repeat|recite|recall|summari[sz]e'
const known = String.raw`(?:you(?:['’]ve)?\s+(?:\w+\s+)?(?:know|remember|recall|have|hold|keep|kept|store|stored|learn|learned|learnt|noted|saved|remembered)(?:\s+(?:stored|saved|noted|on file|in (?:your )?memory|on record|down))?|i(?:['’]ve|\s+have)?\s+(?:told|tell|said|given|gave|shared|asked|mentioned)(?:\s+(?:with\s+)?(?:to\s+)?you)?(?:\s+to (?:remember|keep|store|save))?|is (?:stored |saved )?in (?:your )?memory|there is)`
const wholePatterns: readonly RegExp[] = [
  new RegExp(
    String.raw`^(?:${tellingVerb}|recap|sum up|go over)\b.{0,40}?\b(?:everything|all(?: of)?(?: that| the (?:facts|things))?|what(?:ever)?|the (?:facts|things)|anything|things)\s+(?:that\s+)?(?:\w+\s+)?${known}(?:\s+(?:so far|today|earlier|before|until now))*(?:\s+(?:about|of|on|regarding|concerning)\s+(?<about>.+?))?\s*[.?!]*$`,
    'iu',
  ),
  /^what(?:\s+all)?\s+(?:do|did|have|else do)\s+(?:you|i)\s+(?:know|remember|recall|have|tell|told|learn(?:ed)?|stored?|saved?|keep|kept|say|ask)(?:\s+(?:you|stored|saved|noted))?(?:\s+(?:to remember|in memory|so far|earlier|before|today))*(?:\s+(?:about|of|on|regarding)\s+(?<about>.+?))?\s*[.?!]*$/iu,
  /^(?:tell|remind|give) me\s+(?:everything|all|anything|something|a bit|more|what(?:ever)?(?: there is)?)\s+(?:you (?:know|remember|have) )?(?:about|on|of)\s+(?<about>.+?)\s*[.?!]*$/iu,
  /^(?:list|show|recite|summari[sz]e|recap)(?: me)?\s+(?:all |everything |the )?(?:(?:your|my|the|stored|saved) )*(?:memor(?:y|ies)|facts|notes|beliefs|everything)(?: (?:you have|(?:in|from|of) (?:your |my |the )?(?:memory(?: file)?|notes|\S+\.md)|so far))*\s*[.?!]*$/iu,
  /^what(?:['’]s| is)?\s+(?:there\s+)?(?:stored\s+|saved\s+|written\s+|kept\s+)?in\s+(?:my |your |the )?(?:memory(?: file)?|notes|\S+\.md)\s*[.?!]*$/iu,
  /^what\s+do(?:es)?\s+(?:my |your |the )?(?:memory(?: file)?|notes|file|\S+\.md)\s+(?:say|contain|hold|have)(?:\s+(?:about|on)\s+(?<about>.+?))?\s*[.?!]*$/iu,
]

/** Whether a sentence asks for all that is known, or all about something. */
export function wholeMemory(text: string): Ask | null {
  const inner = text.replace(
    /^(?:(?:can|could|would|will) you (?:please )?|i(?:['’]d| would) (?:like|want) you to |do you )/iu,
    '',
  )
  for (const pattern of wholePatterns) {
    const match = pattern.exec(inner)
    if (match === null) continue
    const about = match.groups?.about?.replace(/\s+(?:so far|again|please)$/iu, '') ?? null
    return { kind: 'everything', about: about === null || /^(?:me|us|myself|it all)$/iu.test(about) ? null : about }
  }
  return null
}
