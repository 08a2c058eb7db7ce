// Endings that make another kind of word and leave the beginning as it was. "e" and "y" are gone from stems.
const endings: ReadonlySet<string> = new Set(
  'er or r ar ment ing anc enc al ion ation ition ist ian nes age ship ful li i ant ent ee abl ibl iv ur th hood ic'.split(
    ' ',
  ),
)

/**
 * Whether a word is made of another by an ending: "teacher" of "teach", "drummer" of "drum", "settlement" of "settle".
 * Expects stems. Short words are left out: "letter" is not made of "let".
 */
export function isDerivedFrom(whole: string, base: string): boolean {
  if (base.length < 3 || whole.length <= base.length) return false
  const doubled = base.length < 4 ? [] : [`${base}${base.at(-1) ?? ''}`]
  return [base, ...doubled, `${base}e`, base.replace(/i$/u, 'y')].some((start) => {
    const ending = whole.slice(start.length)
    return whole.startsWith(start) && endings.has(ending) && (start.length >= 4 || ending.length >= 4)
  })
}
