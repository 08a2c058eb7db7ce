import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workplace } from '../cli/workplace.ts'

/** A working directory with an eval store. */
function referee() {
  const place = workplace()
  const store = join(place.work, 'evals')
  const run = (...argv: readonly string[]) => place.runWith({ env: { CREDENCE_EVAL_STORE_DIR: store } }, ...argv)
  const json = async (...argv: readonly string[]) => {
    const ending = await run(...argv, '--json')
    return { exitCode: ending.exitCode, document: JSON.parse(ending.stdout) }
  }
  return { ...place, store, run, json, [Symbol.dispose]: () => place[Symbol.dispose]() }
}

const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('benchmark score', () => {
  it('gives the rankings of a run the figures of the run, and stores a run', async () => {
    using place = referee()
    const rankings = join(place.work, 'own.jsonl')
    const own = await place.json('benchmark', 'run', 'longmemeval', '--system', 'credence', '--run-id', 'own')
    await place.run('benchmark', 'export', 'longmemeval', '--run', 'own', '--out', rankings)

    const scored = await place.json('benchmark', 'score', 'longmemeval', '--rankings', rankings, '--run-id', 'scored')
    const text = await place.run('benchmark', 'score', 'longmemeval', '--rankings', rankings)
    const status = await place.json('benchmark', 'status')

    const { metrics, intervals, packHash } = own.document.runs[0]
    expect(scored.document.runs).toMatchObject([{ runId: 'scored', metrics, intervals, packHash }])
    expect(scored.document.runs[0].system).toEqual({
      name: 'rankings:own.jsonl',
      version: expect.stringMatching(/^sha256:/u),
    })
    expect(text.stdout).toMatch(/longmemeval, %.*all@5/u)
    expect(status.document.runs.total).toBe(3)
  })

  it('refuses a file with a published id, names its line, and stores no run', async () => {
    using place = referee()
    writeFileSync(join(place.work, 'theirs.jsonl'), '{"question":"sample-kite","ranking":["answer_kite"]}\n')

    const { exitCode, stderr } = await place.run('benchmark', 'score', 'longmemeval', '--rankings', 'theirs.jsonl')
    const status = await place.json('benchmark', 'status')

    expect(exitCode).toBe(3)
    expect(stderr).toMatch(/theirs\.jsonl:1: "answer_kite" is not a document/u)
    expect(status.document.runs.total).toBe(0)
  })

  it.each([
    [['benchmark', 'score', 'longmemeval'], /--rankings/u],
    [['benchmark', 'score', 'retrieval-precision', '--rankings', 'x.jsonl'], /not a conversation pack/u],
    [['benchmark', 'export', 'longmemeval'], /--out/u],
  ])('refuses %j', async (argv, message) => {
    using place = referee()

    const { exitCode, stderr } = await place.run(...argv)

    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
  })
})

it('benchmark export writes documents and questions without a label or a published session id', async () => {
  using place = referee()
  const out = join(place.work, 'documents.jsonl')

  await place.run('benchmark', 'export', 'longmemeval', '--out', out)

  const [first] = linesOf(out)
  expect(Object.keys(first)).toEqual(['conversation', 'turns', 'questions'])
  expect(Object.keys(first.questions[0])).toEqual(['id', 'text', 'askedAt'])
  expect(first.turns[0].id).toBe('s1-0')
  expect(readFileSync(out, 'utf8')).not.toMatch(/answer_|has_answer|gold/u)
})
