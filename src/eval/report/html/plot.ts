/** A point of a line, with the interval it is uncertain by. */
export type PlotPoint = {
  readonly value: number
  readonly low: number | null
  readonly high: number | null
  readonly title: string
}

/** The lowest and highest value there can be, where somebody says. */
export type Range = readonly [number, number] | null

const size = { width: 330, height: 132, left: 44, right: 10, top: 10, bottom: 20 }

/** A line over runs, oldest first, with a band for the intervals and a dashed line for what it is compared with. */
export function linePlot(
  points: readonly PlotPoint[],
  { reference, range }: { readonly reference: number | null; readonly range: Range },
): Markup {
  const values = points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value])
  const [least, most] = spread([...values, ...(reference === null ? [] : [reference])], range)
  const x = scale([0, Math.max(1, points.length - 1)], [size.left, size.width - size.right])
  const y = scale([least, most], [size.height - size.bottom, size.top])
  const at = (index: number): number => (points.length === 1 ? x(0.5) : x(index))
  const upper = points.map(({ value, high }, index) => `${fixed(at(index))},${fixed(y(high ?? value))}`)
  const lower = points.map(({ value, low }, index) => `${fixed(at(index))},${fixed(y(low ?? value))}`).reverse()
  const band =
    points.length > 1
      ? html`<polygon class="band" points="${[...upper, ...lower].join(' ')}"/>`
      : whiskers(points, at, y)
  const line = points.map(({ value }, index) => `${fixed(at(index))},${fixed(y(value))}`).join(' ')
  return html`<svg viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img">
${axis(y, [least, most])}
${reference === null ? null : html`<line class="base" x1="${size.left}" x2="${size.width - size.right}" y1="${fixed(y(reference))}" y2="${fixed(y(reference))}"/>`}
${band}<polyline class="line" points="${line}"/>
${points.map(({ value, title }, index) => html`<circle class="point" cx="${fixed(at(index))}" cy="${fixed(y(value))}" r="3"><title>${title}</title></circle>`)}
<text x="${size.left}" y="${size.height - 5}">${points.length === 1 ? 'one run' : `${points.length} runs, oldest first`}</text>
</svg>`
}

function whiskers(points: readonly PlotPoint[], at: (index: number) => number, y: (value: number) => number): Markup {
  return html`${points.map(({ value, low, high }, index) => {
    const x = fixed(at(index))
    return html`<line class="line" x1="${x}" x2="${x}" y1="${fixed(y(low ?? value))}" y2="${fixed(y(high ?? value))}"/>`
  })}`
}

/** How long answers took, in buckets that grow by a constant factor, with lines at the given percentiles. */
export function latencyPlot(
  times: readonly number[],
  marks: readonly { readonly label: string; readonly value: number }[],
): Markup {
  const floor = 0.001
  const logs = times.map((time) => Math.log10(Math.max(time, floor)))
  const [least, most] = spread(logs)
  const buckets = 30
  const counts = Array.from({ length: buckets }, () => 0)
  for (const log of logs) {
    const bucket = Math.min(buckets - 1, Math.floor(((log - least) / (most - least)) * buckets))
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  const highest = Math.max(1, ...counts)
  const x = scale([least, most], [size.left, size.width - size.right])
  const y = scale([0, highest], [size.height - size.bottom, size.top])
  const width = (size.width - size.right - size.left) / buckets
  return html`<svg viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img">
${axis(y, [0, highest])}
${counts.map((count, index) => html`<rect class="bar" x="${fixed(size.left + index * width + 0.5)}" y="${fixed(y(count))}" width="${fixed(width - 1)}" height="${fixed(size.height - size.bottom - y(count))}"><title>${count} answers</title></rect>`)}
${marks.map(({ label, value }) => {
  const place = fixed(x(Math.log10(Math.max(value, floor))))
  return html`<line class="mark" x1="${place}" x2="${place}" y1="${size.top}" y2="${size.height - size.bottom}"><title>${label}: ${milliseconds(value)}</title></line>`
})}
<text x="${size.left}" y="${size.height - 5}">${milliseconds(10 ** least)}</text>
<text x="${size.width - size.right}" y="${size.height - 5}" text-anchor="end">${milliseconds(10 ** most)}</text>
</svg>`
}

export const milliseconds = (value: number): string =>
  value >= 100 ? `${value.toFixed(0)} ms` : value >= 1 ? `${value.toFixed(1)} ms` : `${value.toFixed(3)} ms`

function axis(y: (value: number) => number, [least, most]: readonly [number, number]): Markup {
  return html`${[least, most].map((value) => html`<line class="axis" x1="${size.left}" x2="${size.width - size.right}" y1="${fixed(y(value))}" y2="${fixed(y(value))}"/><text x="${size.left - 6}" y="${fixed(y(value) + 4)}" text-anchor="end">${short(value)}</text>`)}`
}

/** Never empty: a line of equal values has room around it, but none that no value can have. */
function spread(values: readonly number[], range: Range = null): readonly [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  if (!Number.isFinite(least) || !Number.isFinite(most)) return [0, 1]
  if (most - least > 1e-9) return [least, most]
  const margin = Math.max(Math.abs(least) * 0.1, 0.05)
  const [lowest, highest] = range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return [Math.max(lowest, least - margin), Math.min(highest, most + margin)]
}

const scale =
  ([from, to]: readonly [number, number], [start, end]: readonly [number, number]) =>
  (value: number): number =>
    start + ((value - from) / (to - from)) * (end - start)

const fixed = (value: number): string => (Math.round(value * 100) / 100).toString()
const short = (value: number): string =>
  Math.abs(value) >= 1000 ? value.toFixed(0) : String(Math.round(value * 1000) / 1000)

/** A piece of a page. Only `html` makes one, so nothing reaches a page unescaped. */
export type Markup = { readonly markup: string }

type Part = Markup | string | number | null | undefined | readonly Part[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A template whose values are text: they are escaped, unless they are pieces of a page themselves. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Markup => ({
  markup: strings.map((text, index) => text + rendered(parts[index])).join(''),
})

function rendered(part: Part): string {
  if (part === null || part === undefined) return ''
  if (Array.isArray(part)) return part.map(rendered).join('')
  if (typeof part === 'object' && 'markup' in part) return part.markup
  return String(part).replace(/[&<>"']/gu, (character) => entities[character] ?? '')
}

export const nothing: Markup = { markup: '' }
