import { appendFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'

/** A working directory with an eval store. */
function referee() {
  const place = createSandbox()
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
    expect(text.stdout).toMatch(/longmemeval: what is found, %.*all@5/u)
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

it('benchmark run compares the systems that are named, with the push pair of each kind of message', async () => {
  using place = referee()

  const { stdout } = await place.run(
    'benchmark',
    'run',
    'life',
    '--filter',
    'changed-',
    '--system',
    'credence',
    '--system',
    'none',
  )

  expect(stdout).toMatch(/^life: what is shown unasked, % +cases +missed +false fires/mu)
  expect(stdout).toMatch(/^credence: changed +6 +[0-6]\/6 = /mu)
  expect(stdout).toMatch(/^none +6 +6\/6 = 100\.0 \[61\.0, 100\.0\] /mu)
  expect(stdout).not.toMatch(/^bm25-turns/mu)
  expect(stdout).toMatch(/^none: changed-\d.*: Nothing was shown\.$/mu)
})

describe('a sealed set', () => {
  const seal = (place: ReturnType<typeof referee>, ...more: readonly string[]) => {
    cpSync(join(import.meta.dirname, '../../packs/locomo/sample.json'), join(place.work, 'held-out.json'))
    return place.json('benchmark', 'seal', 'held-out.json', ...more)
  }
  const look = (place: ReturnType<typeof referee>, ...more: readonly string[]) =>
    place.run('benchmark', 'run', 'locomo', '--data', 'held-out.json', ...more)
  const sealOf = (place: ReturnType<typeof referee>) =>
    JSON.parse(readFileSync(join(place.work, 'held-out.json.seal.json'), 'utf8'))

  it('counts the runs of the memory under test, not those of the baselines, and refuses one too many', async () => {
    using place = referee()
    const sealed = await seal(place)

    const first = await look(place)
    const second = await look(place)

    expect(sealed.document).toMatchObject({ ok: true, maxRuns: 1, hash: expect.stringMatching(/^sha256:/u) })
    expect(first.stdout).toMatch(/sealed \d{4}-\d\d-\d\d, look 1 of 1/u)
    expect(sealOf(place).looks.filter(({ counts }: { counts: boolean }) => counts)).toHaveLength(1)
    expect(sealOf(place).looks.length).toBeGreaterThan(1)
    expect(second.exitCode).not.toBe(0)
    expect(second.stderr).toContain('is sealed for 1 run, and 1 were made')
    const beside = readdirSync(place.work).filter((name) => name.startsWith('held-out'))
    expect(beside.sort()).toEqual(['held-out.json', 'held-out.json.seal.json'])
  })

  it('is looked at by a run that is killed before its first answer, and by a score', async () => {
    using place = referee()
    await seal(place, '--runs', '2')
    const dead = ['--system', 'http:http://127.0.0.1:9', '--run-id', 'dead']

    await look(place, ...dead)
    const afterFailure = sealOf(place).looks.length
    await place.run('benchmark', 'run', 'locomo', '--system', 'credence', '--run-id', 'sample')
    await place.run('benchmark', 'export', 'locomo', '--run', 'sample', '--out', 'own.jsonl')
    await place.run('benchmark', 'score', 'locomo', '--data', 'held-out.json', '--rankings', 'own.jsonl')
    const third = await look(place, '--system', 'credence')

    expect(afterFailure).toBe(1)
    expect(sealOf(place).looks).toHaveLength(2)
    expect(third.stderr).toContain('is sealed for 2 runs, and 2 were made')
  })

  it.each<readonly [string, (place: ReturnType<typeof referee>) => void, RegExp]>([
    ['is changed', ({ work }) => appendFileSync(join(work, 'held-out.json'), ' '), /was changed after it was sealed/u],
    [
      'has an edited seal',
      (place) =>
        writeFileSync(join(place.work, 'held-out.json.seal.json'), JSON.stringify({ ...sealOf(place), maxRuns: 9 })),
      /was edited/u,
    ],
  ])('that %s is refused, and stores no run', async (_fault, edit, message) => {
    using place = referee()
    await seal(place)
    edit(place)

    const { exitCode, stderr } = await look(place)
    const status = await place.json('benchmark', 'status')

    expect(exitCode).toBe(3)
    expect(stderr).toMatch(message)
    expect(status.document.runs.total).toBe(0)
  })

  it('is not sealed again', async () => {
    using place = referee()
    await seal(place)

    const again = await place.run('benchmark', 'seal', 'held-out.json', '--runs', '9')

    expect(again.exitCode).not.toBe(0)
    expect(sealOf(place).maxRuns).toBe(1)
  })

  it('can be a pack, which every command that measures counts', async () => {
    using place = referee()
    cpSync(join(import.meta.dirname, '../../packs/session-drift'), join(place.work, 'drift'), { recursive: true })
    await place.run('benchmark', 'seal', 'drift')

    await place.run('benchmark', 'run', './drift')
    const { stderr } = await place.run('eval', 'all', '--packs', '.', '--backend', 'bm25')

    expect(stderr).toContain('is sealed for 1 run, and 1 were made')
  })
})
