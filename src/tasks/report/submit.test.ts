import { describe, expect, it } from 'vitest'
import { type Fault, localArena } from '../../../test/tasks/local-arena.ts'
import { type Bundle, reportJson } from './bundle.ts'
import { readEntry, submit } from './submit.ts'

const key = 'agent_0123456789abcdef'
const markdown = '# What was done\n'
const artifact = new Uint8Array([80, 75, 5, 6, ...Array<number>(18).fill(0)])
const run = {
  schemaVersion: 1 as const,
  runId: 'run-1',
  benchmarkId: 'tasks-x',
  status: 'completed' as const,
  startedAt: '2026-03-06T10:00:00.000Z',
  completedAt: '2026-03-06T10:00:01.000Z',
  totalCases: 1,
  passedCases: 1,
  failedCases: 0,
}
const bundle: Bundle = {
  markdown,
  artifact,
  report: reportJson({ run, evidenceRun: 'run-1', tasks: [] }, { markdown, artifact }),
}

const paths = {
  register: '/api/v1/matches/24/register',
  brief: '/matches/24',
  markdown: '/api/v1/agent-reports/markdown',
  artifact: '/api/v1/agent-reports/artifacts',
  report: '/api/v1/agent-reports',
}

/** Submits, and counts the waiting. */
async function submitted(url: string, given: { readonly key?: string } = {}) {
  const waited: number[] = []
  const steps = await submit(readEntry(url, '24'), bundle, {
    key: given.key ?? key,
    signal: new AbortController().signal,
    wait: async (ms) => void waited.push(ms),
  })
  return { steps, waited }
}

describe('a submission', () => {
  it('takes five steps, and the report refers to what was uploaded', async () => {
    await using arena = await localArena(key)

    const { steps } = await submitted(arena.url)

    expect(arena.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST ${paths.register}`,
      `GET ${paths.brief}`,
      `POST ${paths.markdown}`,
      `POST ${paths.artifact}`,
      `POST ${paths.report}`,
    ])
    expect(arena.kept.markdown).toMatchObject([{ match_id: '24', run_id: 'run-1', content: markdown }])
    expect(arena.kept.artifacts[0]?.includes(Buffer.from(artifact))).toBe(true)
    expect(arena.kept.artifacts[0]?.toString('latin1')).toContain(bundle.report.hashes.workspace_artifact_zip)
    expect(arena.kept.reports).toMatchObject([
      { match_id: '24', markdown_path: 'markdown/1.md', artifact_path: 'artifacts/1.zip', schemaVersion: 2 },
    ])
    expect(steps.map(({ status }) => status)).toEqual([201, 200, 201, 201, 201])
  })

  it('goes on when the match was registered before', async () => {
    await using arena = await localArena(key)
    arena.kept.registered.add('24')

    const { steps } = await submitted(arena.url)

    expect(steps[0]).toMatchObject({ step: 'register_match', status: 409 })
    expect(arena.kept.reports).toHaveLength(1)
  })

  it.each<[string, Record<string, Fault[]>, number]>([
    ['a server that breaks', { [paths.artifact]: [500, 503] }, 2],
    ['a cut connection', { [paths.markdown]: ['cut'] }, 1],
    ['too many requests', { [paths.report]: [429] }, 1],
  ])('outlives %s', async (_, faults, waits) => {
    await using arena = await localArena(key, faults)

    const { waited } = await submitted(arena.url)

    expect(waited).toHaveLength(waits)
    expect(arena.kept.reports).toHaveLength(1)
  })

  it.each<[string, Fault[], string]>([
    ['a server that stays broken', [500, 500, 500, 500], 'upload_artifact failed 4 times: status 500'],
    ['a connection that is always cut', ['cut', 'cut', 'cut', 'cut'], 'upload_artifact failed 4 times'],
    ['a refusal', [422], 'upload_artifact was refused with status 422'],
    ['a web page', ['page'], 'upload_artifact was answered with a web page'],
    [
      'a redirect',
      ['elsewhere'],
      'upload_artifact was redirected to https://other.example/login, which is not followed',
    ],
  ])('stops at %s, and can be sent again', async (_, faults, reason) => {
    await using arena = await localArena(key, { [paths.artifact]: faults })

    await expect(submitted(arena.url)).rejects.toThrow(reason)
    expect(arena.calls.map(({ path }) => path)).not.toContain(paths.report)
    const { steps } = await submitted(arena.url)

    expect(steps[0]).toMatchObject({ step: 'register_match', status: 409 })
    expect(arena.kept.reports).toMatchObject([{ markdown_path: 'markdown/2.md', artifact_path: 'artifacts/1.zip' }])
  })

  it('repeats a request that was cut off after it was done with the same idempotency key', async () => {
    await using arena = await localArena(key, { [paths.markdown]: ['cut after'] })

    await submitted(arena.url)

    const keys = arena.calls
      .filter(({ path }) => path === paths.markdown)
      .map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual(['run-1-upload_markdown', 'run-1-upload_markdown'])
  })

  it('with a wrong key is refused at once, and works with the right one', async () => {
    await using arena = await localArena(key)

    await expect(submitted(arena.url, { key: 'agent_wrong' })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('status 401'),
      hint: expect.stringContaining('CREDENCE_ARENA_KEY'),
    })
    expect(arena.calls).toHaveLength(1)
    await submitted(arena.url)
    expect(arena.kept.reports).toHaveLength(1)
  })

  it('never shows the key, not even when the server says it', async () => {
    await using arena = await localArena(key, { [paths.register]: [409], [paths.report]: [422] })

    const error: unknown = await submitted(arena.url).catch((reason: unknown) => reason)

    expect(String(error)).toContain('[key]')
    expect(String(error)).not.toContain(key)
  })
})

describe('the address of an arena', () => {
  it.each(['https://arena.example', 'http://127.0.0.1:8080', 'http://localhost', 'http://[::1]:9/base/'])(
    'may be %s',
    (url) => {
      expect(readEntry(url, '24').matchId).toBe('24')
    },
  )

  it.each([
    ['http://arena.example', '24'],
    ['http://127.0.0.1.evil.example', '24'],
    ['ftp://arena.example', '24'],
    ['https://user:secret@arena.example', '24'],
    ['https://arena.example?key=1', '24'],
    ['arena', '24'],
    ['https://arena.example', '../24'],
    ['https://arena.example', ''],
  ])('may not be %s with the match "%s"', (url, match) => {
    expect(() => readEntry(url, match)).toThrow()
  })
})
