import { fixed, scale } from './scale.ts'

const size = { width: 96, height: 24, pad: 3 }

/** A few values in the size of a word, from 0 to 1; the last one is marked. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  if (values.length < 2) return null
  const x = scale([0, values.length - 1], [size.pad, size.width - size.pad])
  const y = scale([0, 1], [size.height - size.pad, size.pad])
  const points = values.map((value, index) => `${fixed(x(index))},${fixed(y(value))}`)
  const last = values.length - 1
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${size.width} ${size.height}`}
      width={size.width}
      role="img"
      aria-label={label}
    >
      <polyline class="line" points={points.join(' ')} />
      <circle cx={fixed(x(last))} cy={fixed(y(values[last] ?? 0))} r="2.5" />
    </svg>
  )
}
