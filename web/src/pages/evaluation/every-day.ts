type OfDay = { readonly day: string; readonly value: number }

/** More days than this would be bars too thin to see. */
const mostDays = 90

/** The latest days until the last, those with nothing as 0: a day left out would look as if it had not been. */
export function everyDay(known: readonly OfDay[]): readonly OfDay[] {
  const [first, last] = [known[0], known.at(-1)]
  if (first === undefined || last === undefined) return known
  const values = new Map(known.map(({ day, value }) => [day, value]))
  return daysBetween(first.day, last.day)
    .slice(-mostDays)
    .map((day) => ({ day, value: values.get(day) ?? 0 }))
}

/** Both days and all between them. */
export function daysBetween(first: string, last: string): readonly string[] {
  const all: string[] = []
  const at = new Date(`${first}T00:00:00Z`)
  if (Number.isNaN(at.getTime())) return [first]
  for (let day = first; day <= last && all.length < 10_000; day = dayAfter(at)) all.push(day)
  return all
}

/** Moves on by one day and says which it is. Days are counted in UTC, where each has 24 hours. */
function dayAfter(at: Date): string {
  at.setUTCDate(at.getUTCDate() + 1)
  return at.toISOString().slice(0, 10)
}
