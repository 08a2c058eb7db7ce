/**
 * A text as a number that fits a database key. Not meant to be secret or free of collisions: whoever looks a word up by
 * it compares the words themselves. Two 32-bit FNV-1a sums from different starts, cut to the 53 bits of a number.
 */
export function textHash(text: string): number {
  let high = 0x811c9dc5
  let low = 0x9747b28c
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit, 0x85ebca6b)
  }
  return (high & 0x1fffff) * 0x100000000 + (low >>> 0)
}
