import { htmlReport } from '../../src/eval/report/html-report.ts'
import { aRun, plant } from './eval-store.ts'
import { caseExample, environmentExample } from './example-documents.ts'

const hostile = `<script>window.broken = true</script>"'&<img src=x onerror=alert(1)>`
const now = new Date('2026-03-08T10:00:00Z')

const line = (fields: object): string => `${JSON.stringify({ ...caseExample, scores: { f1: 1 }, ...fields })}\n`
const failed = { verdict: 'fail', scores: { f1: 0.5 }, returned: [], failures: [`b-1 is missing ${hostile}`] }

/** Two runs of two cases, the second of which broke, with texts that try to leave their place. */
export function plantRuns(root: string): void {
  const shared = { total: 2, system: { name: 'bm25', version: '1' }, seed: 1, metricDeclarations: [] }
  plant(root, {
    'runs/run-001.json': aRun({ ...shared, passed: 2, metrics: { f1: 1 } }),
    'runs/run-001/cases.jsonl': line({ caseId: 'kept' }) + line({ caseId: 'broke' }),
    'runs/run-002.json': aRun({
      ...shared,
      runId: 'run-002',
      passed: 1,
      metrics: { f1: 0.75 },
      notes: hostile,
      completedAt: '2026-03-07T10:02:00.000Z',
    }),
    'runs/run-002/cases.jsonl':
      line({ caseId: 'kept', explanation: { query: hostile, prelude: hostile } }) +
      line({ caseId: 'broke', ...failed }),
    'runs/run-002/environment.json': { ...environmentExample, runId: 'run-002', settings: { hostile } },
  })
}

export async function pageOf(root: string, snapshotId?: string): Promise<string> {
  return (await htmlReport(root, { runIds: [], snapshotId, now })).page
}
