export type Series = {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

const size = { width: 640, height: 360, left: 64, right: 150, top: 24, bottom: 48 }
// Colours that colour-blind readers can distinguish (Okabe and Ito), readable on white and on dark grey.
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9']

/** Plots lines over store size on logarithmic axes: a constant cost is flat, a cost that grows with the store is steep. */
export function growthPlot(series: readonly Series[], title: string): string {
  const points = series.flatMap((one) => one.points)
  const x = logarithmic(
    points.map((point) => point.x),
    [size.left, size.width - size.right],
  )
  const y = logarithmic(
    points.map((point) => point.y),
    [size.height - size.bottom, size.top],
  )
  const lines = series.map(({ name, points: own }, index) => {
    const colour = colours[index % colours.length]
    const path = own.map((point) => `${fixed(x.at(point.x))},${fixed(y.at(point.y))}`).join(' ')
    const last = own.at(-1)
    const label =
      last === undefined
        ? ''
        : `<text x="${fixed(x.at(last.x) + 8)}" y="${fixed(y.at(last.y) + 4)}" fill="${colour}">${name}</text>`
    const dots = own
      .map((point) => `<circle cx="${fixed(x.at(point.x))}" cy="${fixed(y.at(point.y))}" r="3.5" fill="${colour}"/>`)
      .join('')
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}${label}`
  })
  const vertical = x.decades.map(
    (decade) =>
      `<line x1="${fixed(x.at(decade))}" x2="${fixed(x.at(decade))}" y1="${size.top}" y2="${size.height - size.bottom}"/><text x="${fixed(x.at(decade))}" y="${size.height - size.bottom + 18}" text-anchor="middle">${short(decade)}</text>`,
  )
  const horizontal = y.decades.map(
    (decade) =>
      `<line x1="${size.left}" x2="${size.width - size.right}" y1="${fixed(y.at(decade))}" y2="${fixed(y.at(decade))}"/><text x="${size.left - 8}" y="${fixed(y.at(decade) + 4)}" text-anchor="end">${short(decade)} ms</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${title}">
<rect width="100%" height="100%" fill="#ffffff"/>
<g stroke="#d0d0d0" stroke-width="1" fill="#555555">${[...vertical, ...horizontal].join('').replaceAll('<text', '<text stroke="none"')}</g>
${lines.join('\n')}
<text x="${(size.left + size.width - size.right) / 2}" y="${size.height - 8}" text-anchor="middle" fill="#333333">beliefs in the store</text>
</svg>
`
}

function logarithmic(values: readonly number[], [from, to]: readonly [number, number]) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index))
  return { decades, at: (value: number): number => from + ((Math.log10(value) - low) / (high - low)) * (to - from) }
}

const fixed = (value: number): string => value.toFixed(1)

const short = (value: number): string =>
  value >= 1_000_000
    ? `${value / 1_000_000}M`
    : value >= 1_000
      ? `${value / 1_000}k`
      : String(Number(value.toPrecision(1)))
