/**
 * A correction without what it corrects: "it is May 21, not May 7" is told as "it is May 21". Whoever asks wants to know
 * what holds now. What is quoted is left alone.
 */
export function withoutOldValue(text: string): string {
  let left = text
  for (const pattern of contrasts) {
    left = left.replace(pattern, (found: string, ...rest: unknown[]) => {
      if (/["“”`]/u.test(found)) return found
      const groups = rest.at(-1)
      return typeof groups === 'object' && groups !== null && 'kept' in groups ? String(groups.kept ?? '') : ''
    })
  }
  const tidy = left
    .replace(/\s+(?=[,;.!?])/gu, '')
    .replace(/[\s,;]+$/u, '')
    .trim()
  return tidy === '' ? text : tidy
}

const value = String.raw`[^,;.!?()"“”\x60]{1,60}`
const contrasts: readonly RegExp[] = [
  // "Hollis cancelled, so the speaker is Imani".
  /^[^,;.:!?"“”`]{1,80},\s+so\s+(?=(?:the|my|our|his|her|their|its|we|i)\b)/iu,
  // "not Vim but Helix": what is kept comes after.
  new RegExp(String.raw`\bnot ${value}? but (?<kept>(?:rather )?)`, 'giu'),
  // "moved from May 7 to May 21".
  new RegExp(
    String.raw`(?<kept>\b(?:moved|changed|switched|went|renamed|postponed|shifted|updated|migrated|pushed)(?: \p{L}+){0,3}) from ${value}?(?= to )`,
    'giu',
  ),
  // ", not May 7", but not ", not before noon".
  new RegExp(
    String.raw`(?:,|\s[–—-])\s+(?:and )?not (?!(?:before|after|until|in|at|on|if|when|because|even|only|yet|all|more|less|every|just|to)\b)${value}(?=[,;.!?]|$)`,
    'giu',
  ),
  new RegExp(String.raw`,?\s+(?:instead of|rather than|in place of) ${value}(?=[,;.!?]|$)`, 'giu'),
  /[,;.]?\s*(?:and |so |but )?(?:I|we|he|she|it|they)(?: am| are| is|['’]m|['’]re|['’]s)? no longer [^,;.!?]+/giu,
  new RegExp(
    String.raw`[,;]?\s*(?:and |but )?(?:it|that|he|she|this|which) (?:was|used to be) (?:formerly |previously |originally )?${value}(?= before|$|[,;.!?])(?: before)?`,
    'giu',
  ),
  /\s*\((?:was|were|formerly|previously|not|used to be|instead of|before)[^)]*\)/giu,
  /,?\s+(?:and )?no longer [^,;.!?]+(?=[,;.!?]|$)/giu,
]
