import type { DeltaReport } from '../gate/delta-report.ts'
import { deltaMarkdown } from './markdown.ts'

/**
 * What GitHub Actions shows: the Markdown for the step summary, and one annotation per reason for the log, which GitHub
 * lists above the files of a pull request.
 */
export function deltaGithub(report: DeltaReport): {
  readonly summary: string
  readonly annotations: readonly string[]
} {
  const errors = report.reasons.map(
    ({ kind, line, next }) => `::error title=${property(`Benchmark ${kind}`)}::${data(`${line} ${next}`)}`,
  )
  const notices = report.notes.map((note) => `::notice title=Benchmark::${data(note)}`)
  return { summary: deltaMarkdown(report), annotations: [...errors, ...notices] }
}

/** Workflow commands are lines: what could end one early is written as a code. */
const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
