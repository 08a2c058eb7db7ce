import { basename, relative, resolve } from 'node:path'
import { invalid } from '../../../errors.ts'
import { writeAtomically } from '../../../files/atomic-write.ts'
import { filesAt, readTextFile } from '../../../files/read-text.ts'
import { localDay } from '../../../local-time.ts'
import { type AuditFinding, auditEntries, auditKinds } from '../../../memory/audit/audit.ts'
import { type AuditEntry, type AuditProblem, readForeignMemory } from '../../../memory/audit/read-memory.ts'
import { defineCommand } from '../../command/command.ts'
import { one, option, text } from '../../command/options.ts'
import { short } from '../../text/beliefs.ts'
import { counted, harmless, lines, type Style, table } from '../../text/output.ts'

export const audit = defineCommand({
  args: {
    path: one('A file of another memory, or a directory: Markdown such as MEMORY.md or CLAUDE.md, JSON Lines, JSON.'),
  },
  options: {
    html: text('<file>', 'Also write the report as one HTML page that works offline.'),
    now: option('<date>', 'The day to compare dates with.', readDay, 'today'),
  },
  description:
    'Reports contradictions, duplicates, stale dates, secrets, entries that no message would find and entries that every message finds. Changes nothing. Reads Markdown, the JSON Lines of the MCP server server-memory, an export of mem0, and JSON Lines or a JSON array of objects with a text. It uses rules, no model: the same files give the same report. See docs/import.md.',
  examples: {
    'credence audit ~/notes/CLAUDE.md': 'Reports the problems of the file.',
    'credence audit memory.jsonl --html audit.html': 'Also writes the report as a page.',
  },
  async run({ args: { path }, options }, session) {
    const now = options.now ?? new Date()
    const entries: AuditEntry[] = []
    const problems: AuditProblem[] = []
    const files = filesIn(path)
    for (const { file, name } of files) {
      const read = readForeignMemory(name, readTextFile(file))
      entries.push(...read.entries)
      problems.push(...read.problems)
    }
    const findings = auditEntries(entries, now)
    const counts = Object.fromEntries(
      auditKinds.map((kind) => [kind, findings.filter((finding) => finding.kind === kind).length]),
    )
    const document = { path, files: files.length, entries: entries.length, counts, findings, problems }
    const page = options.html === undefined ? null : resolve(session.workingDirectory(), options.html)
    if (page !== null) await writeAtomically(page, auditPage(document, now), { existing: 'replace' })
    return {
      document,
      text: (style) => reportText(document, style),
      notes: [
        ...problems.slice(0, 20).map(({ file, line, reason }) => harmless(`${file}, line ${line}: ${reason}`)),
        ...(problems.length > 20 ? [`and ${problems.length - 20} more that could not be read`] : []),
        ...(entries.length === 0 ? [`${path} contains no entries.`] : []),
        ...(page === null ? [] : [`Wrote ${page}.`]),
      ],
    }
  },
})

function readDay(given: string): Date {
  const time = new Date(given)
  if (!Number.isNaN(time.getTime())) return time
  throw invalid(`"${given.slice(0, 80)}" is not a date.`, 'Write one such as 2026-05-03.')
}

/** The files that may hold memories; `name` is their name in the report. */
const filesIn = (path: string): readonly { readonly file: string; readonly name: string }[] =>
  filesAt(path, /\.(?:md|markdown|mdc|jsonl|json)$/iu)
    .map((file) => ({ file, name: relative(path, file) || basename(path) }))
    .filter(({ name }) => !/(?:^|[\\/])(?:node_modules|\.git)[\\/]/u.test(name))

type Report = {
  readonly files: number
  readonly entries: number
  readonly counts: Readonly<Record<string, number>>
  readonly findings: readonly AuditFinding[]
}

const placeOf = ({ file, line }: AuditEntry): string => `${file}:${line}`

const sizeText = (entries: number, files: number): string =>
  `${counted(entries, 'entry').replace('entrys', 'entries')} in ${counted(files, 'file')}`

function reportText({ files, entries, counts, findings }: Report, style: Style): string {
  const rows = findings.flatMap(({ kind, entries: [first, ...others], reason }) => [
    [kind, first === undefined ? '' : placeOf(first), harmless(`${reason} ${short(first?.text ?? '')}`)],
    ...others.map((other) => ['', placeOf(other), short(other.text)]),
  ])
  return lines(
    `${style.bold(sizeText(entries, files))}: ${auditKinds.map((kind) => `${counts[kind]} ${kind}`).join(', ')}.`,
    rows.length > 0 && table(rows),
  )
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (words: string): string => harmless(words).replace(/[&<>"']/gu, (character) => escapes[character] ?? '')

/** One page without scripts, so that no text of the memory can do anything. */
function auditPage({ files, entries, counts, findings }: Report, now: Date): string {
  const rows = findings.map(({ kind, entries: about, reason }) => {
    const places = about.map((entry) => `<li><code>${escaped(placeOf(entry))}</code> ${escaped(entry.text)}</li>`)
    return `<tr><td>${kind}</td><td>${escaped(reason)}<ul>${places.join('')}</ul></td></tr>`
  })
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Audit of a memory</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8884;padding:.5rem;text-align:left;vertical-align:top}</style></head>
<body><h1>Audit of a memory</h1>
<p>${sizeText(entries, files)}. Dates are compared with ${localDay(now.toISOString())}.</p>
<table><thead><tr>${auditKinds.map((kind) => `<th>${kind}</th>`).join('')}</tr></thead>
<tbody><tr>${auditKinds.map((kind) => `<td>${counts[kind]}</td>`).join('')}</tr></tbody></table>
<h2>Findings</h2>
<table><thead><tr><th>what</th><th>where</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table></body></html>
`
}
