import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Fault, localArena } from '../../../test/tasks/local-arena.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import type { Bundle } from './bundle.ts'
import { readSubmission, type SubmitOptions, submissionRequests, submit } from './submit.ts'

const key = 'agent_0123456789abcdef'
const markdown = '# Report\n'
/** Larger than a socket's buffer, so that an upload can be cut in the middle. */
const artifact = new Uint8Array(randomBytes(4_000_000))
const hashes = { report_md: 'hash of the report', workspace_artifact_zip: 'hash of the archive' }
// The requests use only these two fields of a report.
const bundle = { markdown, artifact, report: { run_id: 'run-1', hashes } } as unknown as Bundle

const paths = {
  register: '/api/v1/matches/24/register',
  brief: '/matches/24',
  markdown: '/api/v1/agent-reports/markdown',
  artifact: '/api/v1/agent-reports/artifacts',
  report: '/api/v1/agent-reports',
}

/** Submits into a folder, and counts the waits between attempts. */
async function submitted(url: string, runFolder: string, given: Partial<SubmitOptions> & { bundle?: Bundle } = {}) {
  let waits = 0
  const done = await submit(readSubmission(`${url}/matches/24`, null), given.bundle ?? bundle, {
    key,
    runFolder,
    signal: new AbortController().signal,
    wait: async () => void waits++,
    ...given,
  })
  return { done, waits }
}

describe('a submission', () => {
  it('has five steps, and its report refers to the uploads', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key)

    const { done } = await submitted(arena.url, directory.path)

    expect(arena.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST ${paths.register}`,
      `GET ${paths.brief}`,
      `POST ${paths.markdown}`,
      `POST ${paths.artifact}`,
      `POST ${paths.report}`,
    ])
    expect(arena.kept.markdown).toMatchObject([{ run_id: 'run-1', content: markdown, sha256: hashes.report_md }])
    expect(arena.kept.artifacts[0]?.includes(Buffer.from(artifact))).toBe(true)
    expect(arena.kept.reports).toMatchObject([
      { run_id: 'run-1', markdown_path: 'markdown/1.md', artifact_path: 'artifacts/1.zip' },
    ])
    expect(done.map(({ status }) => status)).toEqual([201, 200, 201, 201, 201])
  })

  it('that is complete sends no request again', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key)
    await submitted(arena.url, directory.path)

    const { done } = await submitted(arena.url, directory.path)

    expect(arena.calls).toHaveLength(5)
    expect(done).toHaveLength(5)
  })

  it.each<[string, Record<string, Fault[]>, number]>([
    ['a failing server', { [paths.artifact]: [500, 503] }, 2],
    ['a connection cut before the work', { [paths.markdown]: ['cut'] }, 1],
    ['a connection cut after the work', { [paths.register]: ['cut after'], [paths.report]: ['cut after'] }, 2],
    ['a connection cut during an upload', { [paths.artifact]: ['half', 'half'] }, 2],
    ['too many requests', { [paths.report]: [429] }, 1],
  ])('survives %s, and sends nothing twice', async (_, faults, waits) => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key, faults)

    const ending = await submitted(arena.url, directory.path)

    expect(ending.waits).toBe(waits)
    expect(arena.kept).toMatchObject({ registered: 1, markdown: { length: 1 }, artifacts: { length: 1 } })
    expect(arena.kept.artifacts[0]?.includes(Buffer.from(artifact))).toBe(true)
    expect(arena.kept.reports).toMatchObject([{ markdown_path: 'markdown/1.md', artifact_path: 'artifacts/1.zip' }])
  })

  it('tries again if there is no answer in time', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key, { [paths.brief]: ['hang', 'hang', 'hang', 'hang'] })

    await expect(submitted(arena.url, directory.path, { timeoutMs: 200 })).rejects.toThrow(
      'read_task_brief failed 4 times: The operation was aborted due to timeout.',
    )
    await submitted(arena.url, directory.path)

    expect(arena.kept).toMatchObject({ registered: 1, reports: { length: 1 } })
  })

  it.each<[string, Fault[], string]>([
    ['a server that always fails', [500, 500, 500, 500], 'upload_artifact failed 4 times: status 500'],
    ['a connection that is always cut', ['cut', 'half', 'cut', 'half'], 'upload_artifact failed 4 times'],
    ['lost answers', Array(4).fill('cut after'), 'upload_artifact failed 4 times'],
    ['a refusal', [422], 'upload_artifact was refused with status 422'],
    ['a web page', ['page'], 'answered with a web page'],
    ['a redirect', ['redirect'], 'upload_artifact was redirected, which is not followed'],
  ])('stops at %s, and a later call continues there', async (_, faults, reason) => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key, { [paths.artifact]: faults })

    await expect(submitted(arena.url, directory.path)).rejects.toThrow(reason)
    const before = arena.calls.length
    await submitted(arena.url, directory.path)

    expect(arena.calls.slice(before).map(({ path }) => path)).toEqual([paths.artifact, paths.report])
    expect(arena.kept).toMatchObject({ markdown: { length: 1 }, artifacts: { length: 1 } })
    expect(arena.kept.reports).toMatchObject([{ markdown_path: 'markdown/1.md', artifact_path: 'artifacts/1.zip' }])
  })

  it('continues if the arena already has the registration', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key, { [paths.register]: [409] })

    const { done } = await submitted(arena.url, directory.path)

    expect(done[0]).toMatchObject({ step: 'register_match', status: 409 })
    expect(arena.kept.reports).toHaveLength(1)
  })

  it('with a wrong key is refused at once, and never shows the key', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key, { [paths.report]: [422] })

    await expect(submitted(arena.url, directory.path, { key: 'agent_wrong' })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('status 401'),
      hint: expect.stringContaining('CREDENCE_ARENA_KEY'),
    })
    expect(arena.calls).toHaveLength(1)
    const error: unknown = await submitted(arena.url, directory.path).catch((reason: unknown) => reason)

    expect(String(error)).toContain('[key]')
    expect(String(error)).not.toContain(key)
    for (const name of readdirSync(directory.path))
      expect(readFileSync(join(directory.path, name), 'utf8')).not.toContain(key)
  })

  it('stops when it is interrupted', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key, { [paths.markdown]: [500] })
    const controller = new AbortController()
    const wait = async () => controller.abort(new Error('interrupted'))

    await expect(submitted(arena.url, directory.path, { signal: controller.signal, wait })).rejects.toThrow(
      'interrupted',
    )
    await submitted(arena.url, directory.path)

    expect(arena.kept).toMatchObject({ registered: 1, reports: { length: 1 } })
  })

  it('of one report is not completed with another', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key, { [paths.report]: [422] })
    await submitted(arena.url, directory.path).catch(() => {})
    const report = { ...bundle.report, hashes: { ...hashes, report_md: 'another hash' } }

    await expect(
      submitted(arena.url, directory.path, { bundle: { ...bundle, report } as Bundle }),
    ).rejects.toMatchObject({ code: 'conflict' })
  })

  it('refuses a damaged state', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key, { [paths.report]: [422] })
    await submitted(arena.url, directory.path).catch(() => {})
    const name = readdirSync(directory.path).find((file) => file.endsWith('.json')) ?? ''
    writeFileSync(join(directory.path, name), '{"done": [')

    await expect(submitted(arena.url, directory.path)).rejects.toThrow('is damaged')
  })

  it('follows the steps of a workflow, in its order', async () => {
    using directory = temporaryDirectory()
    await using arena = await localArena(key)
    const steps = [
      { method: 'POST', name: 'register_match', path: '/api/v1/matches/7/register' },
      { method: 'WEB', name: 'read_task_brief', path: '/matches/7' },
      { method: 'POST', name: 'upload_report', path: '/api/v1/agent-reports' },
    ]
    const submission = readSubmission(arena.url, JSON.stringify({ mode: 'single_task', steps }))

    const signal = new AbortController().signal
    await submit(submission, bundle, { key, signal, runFolder: directory.path, wait: async () => {} })

    expect(arena.calls.map(({ path }) => path)).toEqual(steps.map(({ path }) => path))
    expect(arena.kept.reports).toMatchObject([{ run_id: 'run-1', markdown_path: null }])
  })
})

describe('the address of an arena', () => {
  it.each(['https://arena.example/matches/24', 'http://127.0.0.1:8080/matches/24', 'http://[::1]:9/base/matches/x/'])(
    'may be %s',
    (url) => {
      const { arena, steps } = readSubmission(url, null)

      expect(steps).toHaveLength(5)
      expect(new URL(url).href).toContain(arena)
    },
  )

  it.each([
    'http://arena.example/matches/24',
    'http://127.0.0.1.evil.example/matches/24',
    'ftp://arena.example/matches/24',
    'https://user:secret@arena.example/matches/24',
    'https://arena.example',
    'arena',
  ])('may not be %s', (url) => {
    expect(() => readSubmission(url, null)).toThrow(expect.objectContaining({ code: 'invalid' }))
  })

  it.each([
    ['is not JSON', '{'],
    ['has no steps', '{"steps": []}'],
    ['has an unknown step', '{"steps": [{"name": "pay", "method": "POST", "path": "/pay"}]}'],
    ['leads to another host', '{"steps": [{"name": "register_match", "method": "POST", "path": "//evil.example/x"}]}'],
    [
      'leads outside with a user name in the URL',
      '{"steps": [{"name": "register_match", "method": "POST", "path": "@evil.example/x"}]}',
    ],
    [
      'has a duplicate step',
      '{"steps": [{"name": "register_match", "method": "POST", "path": "/a"}, {"name": "register_match", "method": "POST", "path": "/b"}]}',
    ],
  ])('must not have a workflow that %s', (_, workflow) => {
    expect(() => readSubmission('https://arena.example', workflow)).toThrow('not a workflow')
  })

  it('is part of the idempotency keys, so that two matches are two submissions', () => {
    const keysFor = (match: string) =>
      submissionRequests(readSubmission(`https://arena.example/matches/${match}`, null), bundle).map(
        ({ idempotencyKey }) => idempotencyKey,
      )

    expect(new Set([...keysFor('24'), ...keysFor('25')]).size).toBe(10)
  })
})
