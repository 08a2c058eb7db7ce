/**
 * The event that took `number` back, or null. An undo that was itself undone no longer counts, so what was redone can
 * be undone again. `undosOf` gives the events that undo one, newest first.
 */
export function undoneBy(number: number, undosOf: (number: number) => readonly number[]): number | null {
  return undosOf(number).find((undo) => undoneBy(undo, undosOf) === null) ?? null
}
