/** Everything a page looks like. Colours never stand alone: a word or a sign says the same. */
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
header, main, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; }
h1 { font-size: 24px; margin: 0; }
h2 { font-size: 18px; margin: 36px 0 12px; }
h3 { font-size: 15px; margin: 18px 0 6px; }
p { margin: 6px 0; }
a { color: var(--ink); }
nav { display: flex; flex-wrap: wrap; gap: 16px; padding: 12px 0; border-bottom: 1px solid var(--line); }
.soft { color: var(--soft); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 7px 12px; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child > td { border-bottom: 0; }
th { font-weight: 600; color: var(--soft); font-size: 13px; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, .id { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 13px; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .odd { color: var(--odd); }
td .id { display: block; font-size: 12px; color: var(--soft); }
.case td .id, td a.id { display: inline; color: inherit; font-size: 13px; }
.verdict { font-weight: 600; white-space: nowrap; }
.filters { display: flex; flex-wrap: wrap; gap: 12px; margin: 0 0 12px; align-items: end; }
.filters label { display: grid; gap: 2px; font-size: 13px; color: var(--soft); }
.filters input, .filters select { font: inherit; padding: 5px 8px; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
.filters input { min-width: 260px; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); gap: 16px; }
figure { margin: 0; min-width: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px; }
figcaption { font-size: 13px; color: var(--soft); margin-bottom: 4px; }
figcaption b { color: var(--text); }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, 'DejaVu Sans', sans-serif; fill: var(--soft); }
svg .axis { stroke: var(--line); } svg .line { stroke: var(--ink); fill: none; stroke-width: 2; }
svg .band { fill: var(--band); } svg .point { fill: var(--ink); } svg .bar { fill: var(--ink); opacity: .75; }
svg .mark { stroke: var(--bad); stroke-dasharray: 4 3; } svg .base { stroke: var(--odd); stroke-dasharray: 2 3; }
#cases td:nth-child(2) { min-width: 190px; }
.case { display: none; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 4px 18px 16px; margin-top: 14px; }
.case:target { display: block; }
.case .scroll { margin-top: 6px; }
ul { margin: 4px 0; padding-left: 22px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; padding: 12px; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
footer { padding-top: 28px; padding-bottom: 40px; color: var(--soft); font-size: 13px; }
[hidden] { display: none; }
`

/** Filters rows that are there without it too. */
export const pageScript = `
const table = document.querySelector('#cases');
if (table) {
  const [text, verdict, benchmark] = ['#filter-text', '#filter-verdict', '#filter-benchmark'].map((name) => document.querySelector(name));
  const count = document.querySelector('#filter-count');
  const rows = [...table.tBodies[0].rows];
  const apply = () => {
    let shown = 0;
    for (const row of rows) {
      const fits = row.textContent.toLowerCase().includes(text.value.toLowerCase())
        && (verdict.value === '' || row.dataset.verdict === verdict.value || row.dataset.change === verdict.value)
        && (benchmark.value === '' || row.dataset.benchmark === benchmark.value);
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    count.textContent = shown + ' of ' + rows.length;
  };
  for (const control of [text, verdict, benchmark]) control.addEventListener('input', apply);
  apply();
}
`
