import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { auditRun } from '../gate/latest-runs.ts'
import { readCaseLog } from '../store/case-log.ts'
import { caseLogPath, readEnvironment, readRun } from '../store/documents.ts'
import {
  type CaseOutcome,
  type ExecutionRequest,
  type PackWithSystem,
  type RunContext,
  resumeRun,
  startRun,
} from './run.ts'

const cases = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, prompt: `prompt of ${id}` }))

const outcome = (caseId: string, verdict: 'pass' | 'fail' = 'pass'): CaseOutcome => ({
  caseId,
  verdict,
  scores: { f1: verdict === 'pass' ? 1 : 0.5, drift: null },
  returned: [],
  failures: verdict === 'pass' ? [] : ['wrong'],
  timings: { recall: 2 },
})

/** A benchmark that answers with the result of `judge` and records its requests. */
function aBenchmark(judge: (id: string, request: ExecutionRequest) => CaseOutcome = (id) => outcome(id)) {
  const asked: string[] = []
  const benchmark: PackWithSystem = {
    manifest: { benchmarkId: 'pack', cases },
    packHash: `sha256:${'a'.repeat(64)}`,
    packFiles: {},
    system: { name: 'bm25', version: '1' },
    async *execute(request) {
      for (const { id } of cases) {
        if (request.signal.aborted) return
        if (!request.wanted.has(id)) continue
        asked.push(`${id}${request.repeat}`)
        yield judge(id, request)
      }
    },
  }
  return { benchmark, asked }
}

function context(root: string, fields: Partial<RunContext> = {}): RunContext {
  let minute = 0
  return {
    root,
    now: () => new Date(Date.UTC(2026, 2, 6, 10, minute++)),
    signal: new AbortController().signal,
    environment: {
      given: { seed: 7 },
      settings: { seed: 7, repeats: 1 },
      git: { commit: 'abc', dirty: false },
      node: 'v24',
      os: { platform: 'linux', release: '6', arch: 'x64' },
    },
    ...fields,
  }
}

const options = { repeats: 1, seed: 7 }

describe('running a benchmark', () => {
  it('derives its summary from the stored cases', async () => {
    using store = temporaryDirectory()
    const { benchmark } = aBenchmark((id) => outcome(id, id === 'b' ? 'fail' : 'pass'))
    const progress: string[] = []

    const summary = await startRun(
      benchmark,
      'run-1',
      options,
      context(store.path, { onProgress: (done, total) => progress.push(`${done}/${total}`) }),
    )

    expect(summary).toMatchObject({
      runId: 'run-1',
      benchmarkId: 'pack',
      status: 'completed',
      startedAt: '2026-03-06T10:00:00.000Z',
      completedAt: '2026-03-06T10:01:00.000Z',
      totalCases: 5,
      passedCases: 4,
      failedCases: 1,
      errorCases: 0,
      pendingCases: 0,
      metrics: { f1: 0.9 },
      latency: { p50Ms: 2, p95Ms: 2 },
      system: { name: 'bm25', version: '1' },
      seed: 7,
    })
    expect(summary.metrics).not.toHaveProperty('drift')
    expect(readRun(store.path, 'run-1')).toEqual({ ok: true, value: summary })
    expect((await auditRun(store.path, summary)).problems).toEqual([])
    expect(readEnvironment(store.path, 'run-1')).toMatchObject({ ok: true, value: { git: { commit: 'abc' } } })
    expect(progress).toEqual(['1/5', '2/5', '3/5', '4/5', '5/5'])
  })

  it('counts a case as passed if every repeat passed, and lists flaky cases', async () => {
    using store = temporaryDirectory()
    const { benchmark, asked } = aBenchmark((id, { repeat }) =>
      outcome(id, id === 'c' && repeat === 1 ? 'fail' : 'pass'),
    )

    const summary = await startRun(benchmark, 'run-1', { ...options, repeats: 3 }, context(store.path))

    expect(asked).toHaveLength(15)
    expect(summary).toMatchObject({ totalCases: 5, passedCases: 4, failedCases: 1, flakyCases: 1, repeats: 3 })
    expect(new Set((await readCaseLog(store.path, 'run-1')).records.map(({ seed }) => seed))).toEqual(
      new Set([7, 8, 9]),
    )
  })

  it('counts errors separately, and fails a run that has only errors', async () => {
    using store = temporaryDirectory()
    const error = { class: 'system', message: 'no answer' }
    const broken = (id: string): CaseOutcome => ({ ...outcome(id), verdict: 'error', scores: {}, error })

    const some = await startRun(
      aBenchmark((id) => (id === 'a' ? broken(id) : outcome(id))).benchmark,
      'run-1',
      options,
      context(store.path),
    )
    const all = await startRun(aBenchmark(broken).benchmark, 'run-2', options, context(store.path))
    const notOffered = (id: string): CaseOutcome => ({ ...outcome(id), verdict: 'skipped', scores: {} })
    const rest = await startRun(
      aBenchmark((id) => (id === 'a' ? notOffered(id) : broken(id))).benchmark,
      'run-3',
      options,
      context(store.path),
    )
    const skipped = await startRun(aBenchmark(notOffered).benchmark, 'run-4', options, context(store.path))

    expect(some).toMatchObject({
      status: 'completed',
      passedCases: 4,
      failedCases: 0,
      errorCases: 1,
      metrics: { f1: 1 },
    })
    expect(all).toMatchObject({ status: 'failed', errorCases: 5 })
    expect(all.metrics).toBeUndefined()
    expect(rest).toMatchObject({ status: 'failed', errorCases: 4, skippedCases: 1 })
    expect(skipped).toMatchObject({ status: 'completed', skippedCases: 5 })
  })

  it('runs only the filtered cases, and records the filter', async () => {
    using store = temporaryDirectory()
    const { benchmark, asked } = aBenchmark()

    const summary = await startRun(benchmark, 'run-1', { ...options, filter: 'PROMPT of d' }, context(store.path))

    expect(asked).toEqual(['d0'])
    expect(summary).toMatchObject({ status: 'completed', totalCases: 1, filter: 'PROMPT of d' })
    await expect(
      startRun(benchmark, 'run-2', { ...options, filter: 'nothing' }, context(store.path)),
    ).rejects.toMatchObject({ code: 'invalid' })
  })

  it('never uses the id of another run', async () => {
    using store = temporaryDirectory()
    await startRun(aBenchmark().benchmark, 'run-1', options, context(store.path))

    await expect(startRun(aBenchmark().benchmark, 'run-1', options, context(store.path))).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('ends as failed, with the finished cases, if the executor throws', async () => {
    using store = temporaryDirectory()
    const { benchmark } = aBenchmark((id) => {
      if (id === 'c') throw new Error('out of memory')
      return outcome(id)
    })

    await expect(startRun(benchmark, 'run-1', options, context(store.path))).rejects.toThrow('out of memory')

    expect(readRun(store.path, 'run-1')).toMatchObject({
      value: { status: 'failed', passedCases: 2, pendingCases: 3, failure: 'out of memory' },
    })
  })
})

describe('resuming a run', () => {
  it('runs only the missing cases', async () => {
    using store = temporaryDirectory()
    const interrupt = new AbortController()
    const first = aBenchmark((id) => {
      if (id === 'b') interrupt.abort()
      return outcome(id)
    })

    const partial = await startRun(
      first.benchmark,
      'run-1',
      { ...options, repeats: 2 },
      context(store.path, { signal: interrupt.signal }),
    )
    expect(partial).toMatchObject({ status: 'partial', passedCases: 0, pendingCases: 5 })
    expect(partial.completedAt).toBeUndefined()

    const second = aBenchmark()
    const resumed = await resumeRun(second.benchmark, 'run-1', context(store.path))

    expect(first.asked).toEqual(['a0', 'b0'])
    expect(second.asked).toEqual(['c0', 'd0', 'e0', 'a1', 'b1', 'c1', 'd1', 'e1'])
    expect(resumed).toMatchObject({
      status: 'completed',
      passedCases: 5,
      pendingCases: 0,
      startedAt: partial.startedAt,
    })
  })

  it('refuses a run whose records were edited after it was interrupted', async () => {
    using store = temporaryDirectory()
    const interrupt = new AbortController()
    const { benchmark } = aBenchmark((id) => {
      if (id === 'b') interrupt.abort()
      return outcome(id, 'fail')
    })
    await startRun(benchmark, 'run-1', options, context(store.path, { signal: interrupt.signal }))
    const log = caseLogPath(store.path, 'run-1')
    writeFileSync(log, readFileSync(log, 'utf8').replaceAll('"fail"', '"pass"'))

    const second = aBenchmark()
    const resumed = resumeRun(second.benchmark, 'run-1', context(store.path))

    await expect(resumed).rejects.toThrow(/cannot be resumed: .* was changed after the run/u)
    expect(second.asked).toEqual([])
  })

  it('can be interrupted and resumed repeatedly', async () => {
    using store = temporaryDirectory()
    for (const last of ['b', 'c', 'e']) {
      const interrupt = new AbortController()
      const { benchmark } = aBenchmark((id) => {
        if (id === last) interrupt.abort()
        return outcome(id)
      })
      const within = context(store.path, { signal: interrupt.signal })
      const run =
        last === 'b' ? await startRun(benchmark, 'run-1', options, within) : await resumeRun(benchmark, 'run-1', within)

      expect(run.pendingCases).toBe({ b: 3, c: 2, e: 0 }[last])
      expect((await auditRun(store.path, run)).problems.filter(({ field }) => field === 'seal')).toEqual([])
    }
  })

  it('does not change a completed run', async () => {
    using store = temporaryDirectory()
    const summary = await startRun(aBenchmark().benchmark, 'run-1', options, context(store.path))
    const { benchmark, asked } = aBenchmark()

    expect(await resumeRun(benchmark, 'run-1', context(store.path))).toEqual(summary)
    expect(asked).toEqual([])
  })

  it('refuses if the pack or the system has changed', async () => {
    using store = temporaryDirectory()
    const interrupt = new AbortController()
    interrupt.abort()
    const { benchmark } = aBenchmark()
    await startRun(benchmark, 'run-1', options, context(store.path, { signal: interrupt.signal }))

    for (const change of [{ packHash: `sha256:${'b'.repeat(64)}` }, { system: { name: 'bm25', version: '2' } }]) {
      await expect(resumeRun({ ...benchmark, ...change }, 'run-1', context(store.path))).rejects.toMatchObject({
        code: 'conflict',
      })
    }
    await expect(resumeRun(benchmark, 'run-2', context(store.path))).rejects.toMatchObject({ code: 'not_found' })
  })

  it('does not let two processes write to one run', async () => {
    using store = temporaryDirectory()
    const interrupt = new AbortController()
    interrupt.abort()
    await startRun(aBenchmark().benchmark, 'run-1', options, context(store.path, { signal: interrupt.signal }))

    const outcomes = await Promise.allSettled(
      [1, 2].map(() => resumeRun(aBenchmark().benchmark, 'run-1', context(store.path))),
    )

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('completes a run whose process was killed in the middle of a case', async () => {
    using store = temporaryDirectory()
    const module = new URL('./run.ts', import.meta.url).href
    const script = `
      const { startRun } = await import(${JSON.stringify(module)})
      const cases = ${JSON.stringify(cases)}
      await startRun({
        manifest: { benchmarkId: 'pack', cases }, packHash: 'sha256:${'a'.repeat(64)}', packFiles: {},
        system: { name: 'bm25', version: '1' },
        async *execute({ wanted }) {
          for (const { id } of cases) {
            if (id === 'd') { console.log('at d'); await new Promise((resolve) => setTimeout(resolve, 1e6)) }
            yield { caseId: id, verdict: 'pass', scores: {}, returned: [], failures: [], timings: {} }
          }
        },
      }, 'run-1', { repeats: 1, seed: 7 }, {
        root: ${JSON.stringify(store.path)}, now: () => new Date(), signal: new AbortController().signal,
        environment: { given: {}, settings: {}, git: null, node: 'v', os: { platform: 'p', release: 'r', arch: 'a' } },
      })`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exit = once(child, 'exit')
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await exit

    expect(readRun(store.path, 'run-1')).toMatchObject({ ok: true, value: { status: 'running' } })
    const { benchmark, asked } = aBenchmark()
    const resumed = await resumeRun(benchmark, 'run-1', context(store.path))

    expect(asked).toEqual(['d0', 'e0'])
    expect(resumed).toMatchObject({ status: 'completed', passedCases: 5 })
    expect(readRun(store.path, 'run-1')).toEqual({ ok: true, value: resumed })
  })
})
