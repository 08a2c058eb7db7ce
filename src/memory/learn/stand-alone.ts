/** The words as they were said, with what the pronoun stands for in brackets behind it: "it [Rust] is older than that". */
export function bracketed(content: string, pronoun: string, referent: string): string {
  const at = placeOf(content, pronoun)
  return at === null ? `[${referent}] ${content}` : `${content.slice(0, at)} [${referent}]${content.slice(at)}`
}

/** Behind the first whole word that is the pronoun; null where there is none. */
function placeOf(content: string, pronoun: string): number | null {
  if (pronoun === '') return null
  const match = new RegExp(String.raw`(?<![\p{L}\p{N}])${escaped(pronoun)}(?:['’]\p{L}+)?(?![\p{L}\p{N}])`, 'iu').exec(
    content,
  )
  return match === null ? null : match.index + match[0].length
}

/** A text as a pattern that matches nothing else. */
export const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)
