const whole = new Intl.NumberFormat('en')

export const count = (value: number): string => whole.format(value)

/** `3 beliefs`, `1 belief`. */
export const counted = (value: number, one: string, many: string = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** A figure with as many digits as say something. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Number.isInteger(value)) return count(value)
  const size = Math.abs(value)
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : size >= 0.001 ? trim(value.toFixed(3)) : '~0'
}

const trim = (digits: string): string => digits.replace(/\.?0+$/, '')

/** 1 is 100 %, and nothing below 1 is rounded up to it. */
export function percent(share: number): string {
  const value = share * 100
  const rounded = value > 99 && value < 100 ? Math.floor(value * 10) / 10 : Math.round(value * 10) / 10
  return `${Number.isInteger(rounded) ? rounded : rounded.toFixed(1)} %`
}

export const milliseconds = (value: number): string =>
  value === 0
    ? '0 ms'
    : value >= 1000
      ? `${(value / 1000).toFixed(1)} s`
      : value >= 100
        ? `${value.toFixed(0)} ms`
        : value >= 1
          ? `${value.toFixed(1)} ms`
          : `${value.toFixed(2)} ms`

/** With its sign, for differences. */
export const signed = (value: number): string => (value > 0 ? `+${figure(value)}` : figure(value).replace('-', '−'))
