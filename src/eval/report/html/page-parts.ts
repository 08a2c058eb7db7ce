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

/** A template whose values are escaped, unless they are pieces of a page themselves. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Markup => ({
  markup: strings.map((text, index) => text + rendered(parts[index])).join(''),
})

function rendered(part: Part): string {
  if (part === null || part === undefined) return ''
  if (Array.isArray(part)) return part.map(rendered).join('')
  if (typeof part === 'object' && 'markup' in part) return part.markup
  return String(part).replace(/[&<>"']/gu, (character) => entities[character] ?? '')
}

export const table = (head: Markup, rows: readonly Markup[], id = ''): Markup =>
  html`<div class="scroll"><table id="${id}"><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`

/** Names with their values; those without a value are left out. */
export const definitions = (rows: readonly (readonly [string, Part])[]): Markup =>
  html`<dl>${rows.flatMap(([name, value]) => (value === undefined || value === null ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`]))}</dl>`

/** A point of a line with its 95 % interval. */
export type PlotPoint = {
  readonly value: number
  readonly low: number | null
  readonly high: number | null
  readonly title: string
}

const size = { width: 330, height: 132, left: 44, right: 10, top: 10, bottom: 20 }

/** A line over runs, oldest first, with a band for the intervals and a dashed line for the value it is compared with. */
export function linePlot(points: readonly PlotPoint[], reference: number | null): Markup {
  const values = points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value])
  const [least, most] = bounds([...values, ...(reference === null ? [] : [reference])])
  const plot = { width: size.width - size.left - size.right, height: size.height - size.top - size.bottom }
  const x = (index: number): string => fixed(size.left + (plot.width * (index + 0.5)) / points.length)
  const y = (value: number): string => fixed(size.top + plot.height * (1 - (value - least) / (most - least)))
  const across = (kind: string, value: number): Markup =>
    html`<line class="${kind}" x1="${size.left}" x2="${size.width - size.right}" y1="${y(value)}" y2="${y(value)}"/>`
  const axis = [least, most].map(
    (value) =>
      html`${across('axis', value)}<text x="${size.left - 6}" y="${y(value)}" text-anchor="end">${rounded(value)}</text>`,
  )
  const upper = points.map(({ value, high }, index) => `${x(index)},${y(high ?? value)}`)
  const lower = points.map(({ value, low }, index) => `${x(index)},${y(low ?? value)}`).reverse()
  return html`<svg viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img">
${axis}${reference === null ? null : across('base', reference)}
<polygon class="band" points="${[...upper, ...lower].join(' ')}"/>
<polyline class="line" points="${points.map(({ value }, index) => `${x(index)},${y(value)}`).join(' ')}"/>
${points.map(({ value, title }, index) => html`<circle class="point" cx="${x(index)}" cy="${y(value)}" r="3"><title>${title}</title></circle>`)}
<text x="${size.left}" y="${size.height - 5}">${points.length === 1 ? 'one run' : `${points.length} runs, oldest first`}</text>
</svg>`
}

/** The lowest and highest value, with room around values that are all equal. */
function bounds(values: readonly number[]): readonly [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  if (most - least > 1e-9) return [least, most]
  const margin = Math.max(Math.abs(least) * 0.1, 0.05)
  return [least - margin, most + margin]
}

const fixed = (value: number): string => (Math.round(value * 100) / 100).toString()
/** A figure with at most four decimals. */
export const rounded = (value: number): string => String(Math.round(value * 1e4) / 1e4)

/** Colour is never the only sign: a word or a symbol says the same. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --text: #1c2733; --soft: #5b6a79; --line: #d9e0e7; --ground: #f6f8fa; --card: #ffffff;
  --good: #17734a; --bad: #b3261e; --odd: #8a5a00; --ink: #2458a6; --band: #2458a626;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e4eaf0; --soft: #9fb0c0; --line: #2d3a47; --ground: #10161c; --card: #182029;
    --good: #4cc38a; --bad: #ff8a80; --odd: #e6b450; --ink: #7fb0ff; --band: #7fb0ff2b;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, 'DejaVu Sans', sans-serif; }
header, main, footer { max-width: 1120px; margin: 0 auto; padding: 12px 24px; }
h1 { font-size: 24px; margin: 0; } h2 { font-size: 18px; margin: 36px 0 12px; } h3 { font-size: 15px; margin: 18px 0 6px; }
p, ul { margin: 6px 0; } a { color: var(--ink); }
nav, .filters { display: flex; flex-wrap: wrap; gap: 16px; padding: 12px 0; align-items: end; }
.soft, dt, th, figcaption, footer { color: var(--soft); }
.good { color: var(--good); } .bad { color: var(--bad); } .odd { color: var(--odd); }
.scroll, figure, .case { background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 7px 12px; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.id { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 13px; overflow-wrap: anywhere; }
.verdict { font-weight: 600; white-space: nowrap; }
.filters input, .filters select { display: block; font: inherit; padding: 5px 8px; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); gap: 16px; }
figure { margin: 0; padding: 12px; }
svg { display: block; width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--soft); }
svg .axis { stroke: var(--line); } svg .line { stroke: var(--ink); fill: none; stroke-width: 2; }
svg .band { fill: var(--band); } svg .point { fill: var(--ink); } svg .base { stroke: var(--odd); stroke-dasharray: 2 3; }
.case { display: none; padding: 4px 18px 16px; margin-top: 14px; } .case:target { display: block; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; padding: 12px; }
dd { margin: 0; overflow-wrap: anywhere; }
[hidden] { display: none; }
`

/** Filters the table of cases. All rows are on the page without it too. */
export const pageScript = `
const table = document.querySelector('#cases');
const [text, verdict, benchmark] = ['#filter-text', '#filter-verdict', '#filter-benchmark'].map((name) => document.querySelector(name));
const rows = [...table.tBodies[0].rows];
const apply = () => {
  for (const row of rows) {
    row.hidden = !(row.textContent.toLowerCase().includes(text.value.toLowerCase())
      && (verdict.value === '' || row.dataset.verdict === verdict.value || row.dataset.change === verdict.value)
      && (benchmark.value === '' || row.dataset.benchmark === benchmark.value));
  }
  document.querySelector('#filter-count').textContent = rows.filter((row) => !row.hidden).length + ' of ' + rows.length;
};
for (const control of [text, verdict, benchmark]) control.addEventListener('input', apply);
apply();
`
