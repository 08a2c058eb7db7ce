import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { htmlReport } from '../../src/eval/report/html-report.ts'
import { workplace } from '../cli/workplace.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { aBaseline, aRun, plant } from './eval-store.ts'
import { caseExample, environmentExample } from './example-documents.ts'

const hostile = `<script>window.broken = true</script>"'&<img src=x onerror=alert(1)>`
const now = new Date('2026-03-08T10:00:00Z')

const line = (fields: object): string => `${JSON.stringify({ ...caseExample, scores: { f1: 1 }, ...fields })}\n`
const failed = { verdict: 'fail', scores: { f1: 0.5 }, returned: [], failures: [`b-1 is missing ${hostile}`] }

/** Two runs of two cases, the second of which broke, with texts that try to leave their place. */
function plantRuns(root: string): void {
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

async function pageOf(root: string, snapshotId?: string): Promise<string> {
  return (await htmlReport(root, { runIds: [], snapshotId, now })).page
}

describe('the report page', () => {
  it('shows verdict, trend, cases, what changed, latency and provenance', async () => {
    using store = temporaryDirectory()
    plantRuns(store.path)

    const page = await pageOf(store.path)

    for (const text of [
      'run-002',
      'compared with',
      '✗ worse',
      'passRate fell from 1 to 0.5.',
      '2 runs, oldest first',
      'the first stage that differs is match',
      'rank then',
      '95 % below',
      environmentExample.git.commit,
      environmentExample.node,
    ]) {
      expect(page).toContain(text)
    }
  })

  it('compares with a baseline when told to', async () => {
    using store = temporaryDirectory()
    plantRuns(store.path)
    plant(store.path, {
      'baselines/main.json': aBaseline({
        snapshotId: 'main',
        benchmarks: [{ benchmarkId: 'ama-memory', runId: 'elsewhere', passRate: 0.5 }],
      }),
    })

    expect(await pageOf(store.path, 'main')).toContain('baseline main')
    await expect(pageOf(store.path, 'other')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('lets no text leave its place, and asks for nothing from anywhere', async () => {
    using store = temporaryDirectory()
    plantRuns(store.path)

    const page = await pageOf(store.path)

    expect(page.match(/<script/gu)).toHaveLength(1)
    expect(page).not.toContain('<img')
    expect(page).not.toMatch(/(?:src|href)\s*=\s*["']?(?:https?:)?\/\//u)
    expect(page).not.toMatch(/url\(|@import/u)
    expect(page).toContain("default-src 'none'")
    expect(page).toContain(
      'b-1 is missing &#60;script&#62;window.broken = true&#60;/script&#62;&#34;&#39;&#38;&#60;img src=x onerror=alert(1)&#62;',
    )
  })

  it('is the same for the same data', async () => {
    using store = temporaryDirectory()
    plantRuns(store.path)

    expect(await pageOf(store.path)).toBe(await pageOf(store.path))
  })

  it('is not made of nothing', async () => {
    using store = temporaryDirectory()

    await expect(pageOf(store.path)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is written by the command', async () => {
    using place = workplace()
    const store = join(place.work, 'evals')
    plantRuns(store)

    const made = await place.json('benchmark', 'html', '--store', store, '--out', 'report.html')

    expect(made).toMatchObject({ ok: true, file: join(place.work, 'report.html'), runs: ['run-002'] })
    expect(readFileSync(made.file, 'utf8')).toContain('<!doctype html>')
  })

  const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

  it.skipIf(browser === undefined)(
    'works in a real browser: filters count, and no text is run',
    { timeout: 120_000 },
    async () => {
      using store = temporaryDirectory()
      plantRuns(store.path)
      const file = join(store.path, 'report.html')
      // After its own script the page looks at itself; what it finds is the only thing added.
      const probe = `
      const filter = document.querySelector('#filter-verdict');
      filter.value = 'fail';
      filter.dispatchEvent(new Event('input'));
      document.title = [
        document.querySelector('#filter-count').textContent,
        typeof window.broken,
        document.querySelectorAll('details').length,
        document.querySelectorAll('details[open]').length,
        performance.getEntriesByType('resource').length,
      ].join(' | ');`
      writeFileSync(file, (await pageOf(store.path)).replace('</body>', `<script>${probe}</script></body>`))

      const { stdout } = spawnSync(
        browser ?? '',
        [
          '--headless',
          '--no-sandbox',
          '--disable-gpu',
          `--user-data-dir=${join(store.path, 'profile')}`,
          '--dump-dom',
          pathToFileURL(file).href,
        ],
        { encoding: 'utf8', timeout: 100_000 },
      )

      expect(stdout).toContain('<title>1 of 2 | undefined | 2 | 0 | 0</title>')
    },
  )
})
