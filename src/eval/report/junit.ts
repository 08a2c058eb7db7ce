import type { DeltaReport } from '../gate/delta-report.ts'
import { nameOf } from '../gate/gate.ts'

/** The comparison as JUnit XML: a test case for each benchmark, and one for what concerns all of them. */
export function deltaJunit(report: DeltaReport): string {
  const general = report.reasons.filter(({ benchmarkId }) => benchmarkId === null)
  const ids = [...new Set([...report.deltas.map(nameOf), ...namesOf(report.reasons)])].sort()
  const about = (name: string) =>
    report.reasons.filter(({ benchmarkId, system }) => benchmarkId !== null && nameOf({ benchmarkId, system }) === name)
  const cases = [testCase('artifacts', general), ...ids.map((id) => testCase(id, about(id)))]
  const all = [general, ...ids.map(about)]
  const failures = all.filter((reasons) => reasons.some(({ kind }) => kind === 'regression')).length
  const errors = all.filter((reasons) => reasons.length > 0).length - failures
  const attributes = `name="credence benchmark gate" tests="${cases.length}" failures="${failures}" errors="${errors}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite ${attributes}>\n${cases.join('\n')}\n</testsuite>\n</testsuites>\n`
}

function testCase(name: string, reasons: DeltaReport['reasons']): string {
  const open = `<testcase classname="benchmark" name="${xml(name)}"`
  if (reasons.length === 0) return `${open}/>`
  // A regression is a failed test; what could not be judged is an error of the test itself.
  const tag = reasons.some(({ kind }) => kind === 'regression') ? 'failure' : 'error'
  const text = reasons.map(({ line, next }) => `${line} ${next}`).join('\n')
  return `${open}><${tag} message="${xml(reasons[0]?.line ?? '')}">${xml(text)}</${tag}></testcase>`
}

const namesOf = (reasons: DeltaReport['reasons']): readonly string[] =>
  reasons.flatMap(({ benchmarkId, system }) => (benchmarkId === null ? [] : [nameOf({ benchmarkId, system })]))

const entities: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Characters that XML does not know at all are left out. */
const xml = (text: string): string =>
  text
    .replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '')
    .replace(/[<>&"']/gu, (character) => entities[character] ?? '')
