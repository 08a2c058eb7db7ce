// Runs every pack on every backend and writes the measured table of docs/retrieval.md.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { manifestOf } from '../src/eval/pack/manifest.ts'
import { type ComparisonRow, overallTable, packTable, type Table } from '../src/eval/report/comparison.ts'
import { findPacks } from '../src/eval/runners/retrieval/pack.ts'
import type { PackProvenance } from '../src/eval/store/schemas/manifest.ts'

const start = '<!-- measured: start -->'
const end = '<!-- measured: end -->'

type ListedPackProvenance = { readonly id: string; readonly provenance: PackProvenance | undefined }

export const tableMarkdown = ({ titles, rows }: Table): string =>
  [titles, titles.map((_, at) => (at === 0 ? '---' : '---:')), ...rows]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n')

/** The generated part of the documentation, which does not depend on the machine. */
export function measuredMarkdown(
  rows: readonly ComparisonRow[],
  notes: readonly string[],
  packs: readonly ListedPackProvenance[] = [],
): string {
  return [
    tableMarkdown(overallTable(rows)),
    '',
    'By pack:',
    '',
    tableMarkdown(packTable(rows)),
    '',
    ...provenanceLines(rows, packs),
    ...rows.map(({ backend, description }) => `- \`${backend}\`: ${description}.`),
    ...notes.map((note) => `- ${note}`),
  ].join('\n')
}

/** The figure of each pack at its first run, next to the current one. */
function provenanceLines(rows: readonly ComparisonRow[], packs: readonly ListedPackProvenance[]): readonly string[] {
  const today = rows.find(({ backend }) => backend === 'bm25')?.packs ?? []
  const lines = packs.map(({ id, provenance: { casesWritten, by, firstSight } = {} }) => {
    const now = today.find((pack) => pack.id === id)
    const { passed, total, date, commit } = firstSight ?? {}
    const first = firstSight ? `${passed}/${total} (${date}, ${commit})` : 'not measured'
    const current = now === undefined ? '–' : `${now.totalPassed}/${now.totalCases}`
    return [id, casesWritten ?? 'unknown', by ?? 'unknown', first, current]
  })
  if (lines.length === 0) return []
  const titles = ['Pack', 'Cases written', 'By', 'First sight', 'Today']
  return ['Where the cases come from:', '', tableMarkdown({ titles, rows: lines }), '']
}

/** The document with the text between its markers replaced. */
export function withMeasured(document: string, file: string, measured: string): string {
  const from = document.indexOf(start)
  const to = document.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${file}: has no ${start} with ${end} after it.`)
  return `${document.slice(0, from + start.length)}\n${measured}\n${document.slice(to)}`
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const out = mkdtempSync(join(tmpdir(), 'credence-measured-'))
  const { stdout } = spawnSync(
    process.execPath,
    [join(root, 'bin/credence.js'), 'eval', 'all', '--json', '--out', out, '--evals', join(out, 'evals')],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  rmSync(out, { recursive: true })
  const { rows, notes, skipped } = JSON.parse(stdout)
  // Fails, because a table without some backends would look complete.
  if (skipped.length > 0) throw new Error(skipped.join('\n'))
  const packs = findPacks(join(root, 'packs')).flatMap((path) => {
    const { benchmarkId: id, provenance, runner } = manifestOf(path)
    return runner === 'calibration' ? [] : [{ id, provenance }]
  })
  const file = join(root, 'docs/retrieval.md')
  writeFileSync(file, withMeasured(readFileSync(file, 'utf8'), file, measuredMarkdown(rows, notes, packs)))
}
