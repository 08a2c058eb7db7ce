import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workplace } from '../cli/workplace.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { aBaseline, plant } from './eval-store.ts'
import { environmentExample } from './example-documents.ts'
import { pageOf, plantRuns } from './report-page.ts'

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

    const made = await place.json('benchmark', 'html', '--evals', store, '--out', 'report.html')

    expect(made).toMatchObject({ ok: true, file: join(place.work, 'report.html'), runs: ['run-002'] })
    expect(readFileSync(made.file, 'utf8')).toContain('<!doctype html>')
  })
})
