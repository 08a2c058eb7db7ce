import type { Ratio } from '../measure.ts'

type Cell = string | number

export const table = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

export const count = (value: number): string => value.toLocaleString('en')

export const times = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)}x`

/** A ratio with its interval. */
export const ratioText = ({ median, low, high }: Ratio): string => `${times(median)} [${times(low)}–${times(high)}]`

export const percent = (value: number): string => `${(value * 100).toFixed(1)} %`
