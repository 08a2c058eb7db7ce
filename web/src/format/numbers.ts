const whole = new Intl.NumberFormat('en')

export const count = (value: number): string => whole.format(value)

/** `3 beliefs`, `1 belief`. */
export const pluralize = (value: number, one: string, many: string = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** A figure with about three significant digits. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Number.isInteger(value)) return count(value)
  const size = Math.abs(value)
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : size >= 0.001 ? trim(value.toFixed(3)) : '~0'
}

/** `1.50` as `1.5`, `2.0` as `2`, `100` as it is. */
const trim = (digits: string): string => (digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits)

/** A score with a fixed number of digits, because scores are listed in columns. */
export const score = (value: number): string => value.toFixed(3)

/** A share as a percentage. Shares below 1 are never rounded up to 100 %. */
export function percent(share: number): string {
  const value = share * 100
  const rounded = value > 99 && value < 100 ? Math.floor(value * 10) / 10 : Math.round(value * 10) / 10
  return `${Number.isInteger(rounded) ? rounded : rounded.toFixed(1)} %`
}

export function milliseconds(value: number): string {
  if (value >= 1000) return `${trim((value / 1000).toFixed(1))} s`
  return `${trim(value.toFixed(value >= 10 ? 0 : value >= 1 ? 1 : 2))} ms`
}

/** A difference with its sign. */
export const signedFigure = (value: number): string =>
  value > 0 ? `+${figure(value)}` : figure(value).replace('-', '−')
