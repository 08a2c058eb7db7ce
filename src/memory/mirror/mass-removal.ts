import type { Weighed } from './weigh.ts'

/** One line taken out is an edit. Many at once look like an accident, or like somebody who wipes a memory. */
export function massRemoval(
  { removed, known }: Pick<Weighed, 'removed' | 'known'>,
  files: readonly string[],
): { readonly file: string; readonly reason: string } | null {
  for (const name of files) {
    const gone = removed.filter(({ file }) => file === name).length
    const total = known.get(name) ?? 0
    const isMass = gone >= 2 && (gone * 2 >= total || (gone > 10 && gone * 5 > total))
    if (isMass) return { file: name, reason: `${gone} of ${total} items are gone from it` }
  }
  return null
}
