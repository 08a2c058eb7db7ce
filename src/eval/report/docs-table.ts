import { invalid } from '../kinds/retrieval/case-file.ts'
import type { Provenance } from '../store/schemas/manifest.ts'
import { type ComparisonRow, overallTable, packTable, tableMarkdown } from './comparison.ts'

const start = '<!-- measured: start -->'
const end = '<!-- measured: end -->'

/** The measured part of the documentation: nothing in it depends on the machine. */
export function measuredMarkdown(
  rows: readonly ComparisonRow[],
  notes: readonly string[],
  packs: readonly { readonly id: string; readonly provenance: Provenance | undefined }[] = [],
): string {
  const legend = rows.map(({ backend, description }) => `- \`${backend}\`: ${description}.`)
  return [
    tableMarkdown(overallTable(rows)),
    '',
    'By pack:',
    '',
    tableMarkdown(packTable(rows)),
    '',
    ...provenanceLines(rows, packs),
    ...legend,
    ...notes.map((note) => `- ${note}`),
  ].join('\n')
}

/** What each pack was worth when it was first run, beside what it shows today. */
function provenanceLines(
  rows: readonly ComparisonRow[],
  packs: Parameters<typeof measuredMarkdown>[2] = [],
): readonly string[] {
  const today = rows.find(({ backend }) => backend === 'bm25')?.packs ?? []
  const lines = packs.map(({ id, provenance }) => {
    const now = today.find((pack) => pack.id === id)
    const first = provenance?.firstSight
    return [
      id,
      provenance?.casesWritten ?? 'unknown',
      provenance?.by ?? 'unknown',
      first ? `${first.passed}/${first.total} (${first.date}, ${first.commit})` : 'not measured',
      now === undefined ? '–' : `${now.totalPassed}/${now.totalCases}`,
    ]
  })
  if (lines.length === 0) return []
  const titles = ['Pack', 'Cases written', 'By', 'First sight', 'Today']
  return ['Where the cases come from:', '', tableMarkdown({ titles, rows: lines }), '']
}

/** The document with what stands between its markers replaced. */
export function withMeasured(document: string, file: string, measured: string): string {
  const { from, to } = placeIn(document, file)
  return `${document.slice(0, from)}\n${measured}\n${document.slice(to)}`
}

/** What stands between the markers now. */
export function measuredIn(document: string, file: string): string {
  const { from, to } = placeIn(document, file)
  return document.slice(from, to).trim()
}

function placeIn(document: string, file: string): { readonly from: number; readonly to: number } {
  const from = document.indexOf(start)
  const to = document.indexOf(end)
  if (from >= 0 && to > from) return { from: from + start.length, to }
  throw invalid(`${file}: has no ${start} with ${end} after it.`, 'Put the two markers where the table belongs.')
}
