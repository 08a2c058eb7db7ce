import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aBaseline, aManifest, aRun, aShadow, plant } from '../../../test/harness/eval-store.ts'
import { redTeamExample, shadowExample } from '../../../test/harness/example-documents.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { storeStatus } from './status.ts'

describe('the status of an eval store', () => {
  it('counts the documents, and shows the latest of each kind', async () => {
    using store = temporaryDirectory()
    plant(store.path, {
      'benchmarks/ama-memory/manifest.json': aManifest(),
      'benchmarks/poisoning-corroboration-pack/manifest.json': redTeamExample,
      'runs/run-001.json': aRun(),
      'runs/run-002.json': aRun({ runId: 'run-002', completedAt: '2026-03-07T10:02:00.000Z' }),
      'runs/run-003.json': aRun({ runId: 'run-003', status: 'failed', completedAt: undefined }),
      'runs/run-001/environment.json': '{}',
      'runs/run-001/cases.jsonl': '',
      'runs/2026-03-05/run-000.json': aRun({ runId: 'run-000' }),
      'shadow/2026-03-06/3f3ec9f5b356c1f2.json': aShadow(),
      'shadow/2026-03-07/b.json': aShadow({ traceId: 'b', recordedAt: '2026-03-07T00:00:00Z', sessionKey: 'k' }),
      'baselines/required-main.json': aBaseline(),
      'baselines/README.md': 'notes of a person',
    })

    const status = await storeStatus(store.path)

    expect(status).toMatchObject({
      missingDirs: [],
      benchmarks: {
        total: 2,
        valid: 2,
        invalid: 0,
        redTeam: 1,
        totalCases: 2,
        attackClasses: ['provenance-spoofing'],
        targetSurfaces: ['trust-zone-promotion'],
        tags: ['objective-state', 'trajectory'],
        sourceLinks: ['https://arxiv.org/abs/2602.16901', 'https://arxiv.org/abs/2602.22769'],
      },
      runs: {
        total: 4,
        invalid: 0,
        completed: 3,
        failed: 1,
        partial: 0,
        running: 0,
        latestRunId: 'run-002',
        latestBenchmarkId: 'ama-memory',
        latestCompletedAt: '2026-03-07T10:02:00.000Z',
      },
      shadows: { total: 2, invalid: 0, latestTraceId: 'b', latestSessionKey: 'k' },
      baselines: { total: 1, invalid: 0, latestSnapshotId: 'required-main', latestBenchmarkCount: 1 },
      latestRun: { runId: 'run-002' },
      latestShadow: { traceId: 'b' },
      latestBaseline: { snapshotId: 'required-main' },
    })
  })

  it('distinguishes missing folders from empty ones', async () => {
    using store = temporaryDirectory()
    mkdirSync(join(store.path, 'runs'))

    const status = await storeStatus(store.path)

    expect(status.missingDirs).toEqual(['benchmarks', 'shadow', 'baselines'])
    expect(status.runs).toMatchObject({ total: 0, latestRunId: null })
  })

  it('names the file and field of every invalid document, and still reads the rest', async () => {
    using store = temporaryDirectory()
    plant(store.path, {
      'benchmarks/torn/manifest.json': '{"schemaVersion": 1, "benchm',
      'benchmarks/other-name/manifest.json': aManifest(),
      'benchmarks/empty-folder/notes.txt': '',
      'benchmarks/stray.json': aManifest(),
      'runs/run-001.json': aRun(),
      'runs/run-002.json': aRun({ runId: '../run-002' }),
      'runs/run-003.json': aRun({ runId: 'run-003', totalCases: '12' }),
      'shadow/2026-03-06/x.json': aShadow({ traceId: 'x', prompt: 'What is my address?' }),
      'shadow/3f3ec9f5b356c1f2.json': aShadow(),
      'baselines/required-main.json': aBaseline({ benchmarkCount: 3 }),
    })
    symlinkSync(join(store.path, 'runs', 'run-001.json'), join(store.path, 'runs', 'link.json'))

    const status = await storeStatus(store.path)
    const places = [
      ...status.invalidBenchmarks,
      ...status.invalidRuns,
      ...status.invalidShadows,
      ...status.invalidBaselines,
    ].map(({ path, field }) => `${path} ${field}`)

    expect(places.sort()).toEqual([
      'baselines/required-main.json benchmarkCount',
      'benchmarks/empty-folder/manifest.json (document)',
      'benchmarks/other-name/manifest.json benchmarkId',
      'benchmarks/stray.json (document)',
      'benchmarks/torn/manifest.json (document)',
      'runs/link.json (document)',
      'runs/run-002.json runId',
      'runs/run-003.json totalCases',
      'shadow/2026-03-06/x.json prompt',
      'shadow/3f3ec9f5b356c1f2.json (document)',
    ])
    expect(status.runs).toMatchObject({ total: 4, valid: 1, invalid: 3, completed: 1, latestRunId: 'run-001' })
    expect(JSON.stringify(status)).not.toContain('my address')
  })

  it('uses no more memory for a large store than for a small one', () => {
    using store = temporaryDirectory()
    const days = Array.from({ length: 5 }, (_, day) => `2026-03-${String(day + 1).padStart(2, '0')}`)
    const memoryIds = Array.from({ length: 500 }, (_, index) => `belief-${index}-of-a-store`)
    for (const day of days) {
      mkdirSync(join(store.path, 'shadow', day), { recursive: true })
      for (let index = 0; index < 200; index += 1) {
        const record = {
          ...shadowExample,
          memoryIds,
          recalledMemoryCount: 500,
          traceId: `t${index}`,
          recordedAt: `${day}T10:00:00.000Z`,
        }
        writeFileSync(join(store.path, 'shadow', day, `t${index}.json`), JSON.stringify(record))
      }
    }
    // All together, these records are larger than the heap.
    const module = new URL('./status.ts', import.meta.url).href
    const script = `
      const { storeStatus } = await import(${JSON.stringify(module)})
      const { shadows } = await storeStatus(${JSON.stringify(store.path)})
      console.log(shadows.valid)`

    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--max-old-space-size=24', '--max-semi-space-size=1', '--input-type=module', '--eval', script],
      { encoding: 'utf8' },
    )

    expect({ stdout, stderr }).toEqual({ stdout: '1000\n', stderr: '' })
  })
})
