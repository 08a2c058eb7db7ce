import type { RouteAnswer } from '../../../../src/http/api/contract.ts'

type Row = RouteAnswer<'growth'>['beliefs'][number]

export type Layer = {
  readonly name: string
  readonly values: readonly { readonly day: string; readonly total: number }[]
}

/** More layers than this cannot be told apart; the others are one. */
const maxLayers = 5

/** How many beliefs there were in all by the end of each day until `today`, one layer for each name, the largest first. */
export function growthBy(rows: readonly Row[], today: string, nameOf: (row: Row) => string): readonly Layer[] {
  const days = [...new Set([...rows.map(({ day }) => day), today])].sort()
  const totals = new Map<string, number>()
  for (const row of rows) totals.set(nameOf(row), (totals.get(nameOf(row)) ?? 0) + row.beliefs)
  const ranked = [...totals].sort(([, one], [, other]) => other - one).map(([name]) => name)
  const own = ranked.length > maxLayers ? ranked.slice(0, maxLayers - 1) : ranked
  const layerOf = (row: Row): string => (own.includes(nameOf(row)) ? nameOf(row) : 'others')
  const names = ranked.length > own.length ? [...own, 'others'] : own
  return names.map((name) => {
    let total = 0
    const values = days.map((day) => {
      total += rows
        .filter((row) => row.day === day && layerOf(row) === name)
        .reduce((sum, { beliefs }) => sum + beliefs, 0)
      return { day, total }
    })
    return { name, values }
  })
}
