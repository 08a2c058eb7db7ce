const pairs = `favourite favorite|favourites favorites|colour color|colours colors|flavour flavor|neighbour neighbor|neighbours neighbors|
neighbourhood neighborhood|honour honor|labour labor|behaviour behavior|humour humor|centre center|theatre theater|metre meter|
litre liter|fibre fiber|licence license|defence defense|practise practice|programme program|organise organize|
organisation organization|organised organized|realise realize|recognise recognize|specialise specialize|
specialised specialized|analyse analyze|catalogue catalog|dialogue dialog|grey gray|jewellery jewelry|tyre tire|cheque check|
travelling traveling|travelled traveled|cancelled canceled|modelling modeling|mum mom|aeroplane airplane|paediatrician pediatrician|
anaesthetic anesthetic|oestrogen estrogen|mould mold|plough plow|pyjamas pajamas|yoghurt yogurt|whisky whiskey|storey story|
enrol enroll|fulfil fulfill|learnt learned|aluminium aluminum|moustache mustache|manoeuvre maneuver|draught draft|kerb curb`

const other = new Map<string, string>()
for (const pair of pairs.split('|')) {
  const [british = '', american = ''] = pair.trim().split(' ')
  other.set(british, american)
  // "Check", "program", "story" and the like are words of their own on both sides, and stay what they are.
  if (!/^(?:check|program|practice|story|draft|meter|tire|gray|curb|mold|license|dialog)$/u.test(american)) {
    other.set(american, british)
  }
}

/** The same phrase as it is spelled on the other side of the Atlantic; null where it is spelled the same. */
export function otherSpelling(phrase: string): string | null {
  const changed = phrase.replace(/\p{L}+/gu, (word) => {
    const found = other.get(word.toLowerCase())
    if (found === undefined) return word
    return word[0] === word[0]?.toUpperCase() ? (found[0] as string).toUpperCase() + found.slice(1) : found
  })
  return changed === phrase ? null : changed
}
