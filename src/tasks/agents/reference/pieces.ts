const frame =
  /^(?:what|which|who|where|when)(?:['’]s|['’]re|\s+(?:is|are|was|were))\s+(?<rest>.+)$|^(?<topic>(?:my|our|the|\p{Lu}[\p{L}-]*['’]s?)\s.+)$/iu
const ownerOf = /^(?:.*?\b(?:my|our|the|his|her|their|its)\s+)?(?:[\p{L}-]+['’]s?\s+)*/iu

/**
 * The things a question asks for in one breath: "my mentor's name and address" are two. A part that says not whose it is
 * belongs to the same as the part before.
 */
export function piecesOf(question: string): readonly string[] {
  const text = question.replace(/[\s?.!]+$/u, '')
  const match = frame.exec(text)
  const rest = match?.groups?.rest ?? match?.groups?.topic
  if (rest === undefined) return [question]
  const parts = rest.split(/\s*,\s*(?:and\s+)?|\s+(?:and|as well as|plus|&)\s+/iu).filter((part) => part !== '')
  if (parts.length < 2) return [question]
  const whole = parts.map((part, at) => {
    // "Ana's and Tom's tea": the thing stands with the last of them.
    if (/['’]s?$/u.test(part))
      return `${part} ${thingOf(parts.slice(at + 1).find((other) => !/['’]s?$/u.test(other)) ?? '')}`
    return part
  })
  return whole.map((part, at) => {
    const isOwned = /^(?:my|our|the|his|her|their|its|your|a|an|this|that)\b|^\S+['’]s?\s/iu.test(part)
    const owner = at === 0 || isOwned ? '' : (ownerOf.exec(whole[at - 1] ?? '')?.[0] ?? '')
    return `${owner}${part}`.trim()
  })
}

const thingOf = (part: string): string => part.replace(ownerOf, '')
