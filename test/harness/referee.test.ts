import { appendFileSync, cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { neutralId } from '../../src/eval/runners/conversation/rankings.ts'
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
  it('gives the rankings of a run the same figures as the run, and stores a run', async () => {
    using place = referee()
    const rankings = join(place.work, 'own.jsonl')
    const own = await place.json('benchmark', 'run', 'longmemeval', '--system', 'credence', '--run-id', 'own')
    await place.run('benchmark', 'export', 'longmemeval', '--run', 'own', '--out', rankings)

    const scored = await place.json('benchmark', 'score', 'longmemeval', '--rankings', rankings, '--run-id', 'scored')
    const text = await place.run('benchmark', 'score', 'longmemeval', '--rankings', rankings)
    const status = await place.json('benchmark', 'status')

    const { metrics, intervals, packHash } = own.document.runs[0]
    expect(scored.document.runs).toMatchObject([{ runId: 'scored', metrics, intervals, packHash }])
    expect([own.document.doors, scored.document.doors]).toEqual([{ own: 'function' }, { scored: 'file' }])
    expect(scored.document.runs[0].system).toEqual({
      name: 'rankings:own.jsonl',
      version: expect.stringMatching(/^sha256:/u),
    })
    expect(text.stdout).toMatch(/longmemeval: what is found, %.*all@5/u)
    expect(status.document.runs.total).toBe(3)
  })

  it('refuses a file with a published id, names its line, and stores no run', async () => {
    using place = referee()
    writeFileSync(
      join(place.work, 'theirs.jsonl'),
      `{"question":"${neutralId('q', 'sample-kite')}","ranking":["answer_kite"]}\n`,
    )

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
    [['benchmark', 'export', 'retrieval-precision', '--out', 'x.jsonl'], /not a conversation pack/u],
  ])('refuses %j', async (argv, message) => {
    using place = referee()

    const { exitCode, stderr } = await place.run(...argv)

    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
  })
})

it('benchmark export refuses a run of another pack, and a file that cannot be written', async () => {
  using place = referee()
  await place.run('benchmark', 'run', 'locomo', '--system', 'none', '--run-id', 'own')

  const other = await place.run('benchmark', 'export', 'life', '--run', 'own', '--out', 'x.jsonl')
  const nowhere = await place.run('benchmark', 'export', 'life', '--out', 'no-such-place/x.jsonl')
  const folder = await place.run('benchmark', 'export', 'life', '--out', '.')

  expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('own is a run of locomo') })
  expect(nowhere).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no directory') })
  expect(folder).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('cannot be written') })
  expect(readdirSync(place.work)).not.toContain('x.jsonl')
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

it.each(['longmemeval', 'beam', 'ama-bench', 'life'])(
  'benchmark export of %s has no published id of a question or conversation, which could reveal a label',
  async (suite) => {
    using place = referee()
    const out = join(place.work, 'documents.jsonl')
    await place.run('benchmark', 'run', suite, '--system', 'none', '--run-id', 'own')

    await place.run('benchmark', 'export', suite, '--out', out)
    await place.run('benchmark', 'export', suite, '--run', 'own', '--out', join(place.work, 'rankings.jsonl'))

    const documents = linesOf(out)
    const questions = documents.flatMap((document) => document.questions.map(({ id }: { id: string }) => id))
    const cases = linesOf(join(place.store, 'runs/own/cases.jsonl'))
    const ranked = linesOf(join(place.work, 'rankings.jsonl')).map(({ question }) => question)
    expect(new Set(questions).size).toBe(cases.length)
    expect(questions).toEqual(documents.flatMap((_, at) => questions.filter((id) => isOf(documents[at], id)).sort()))
    expect(ranked.toSorted()).toEqual(questions.toSorted())
    for (const id of [...questions, ...documents.map(({ conversation }) => conversation)])
      expect(id).toMatch(/^[qc]-[0-9a-f]{16}$/u)
  },
)

const isOf = (document: { readonly questions: readonly { readonly id: string }[] }, question: string): boolean =>
  document.questions.some(({ id }) => id === question)

it('benchmark run compares the named systems, with the push rates of each kind of message', async () => {
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

it('benchmark run lists the capabilities that a system does not claim', async () => {
  using place = referee()
  const server = fileURLToPath(new URL('../eval/outside/scripted-mcp-server.ts', import.meta.url))
  const mapping = {
    name: 'notes',
    offers: ['updates'],
    command: process.execPath,
    args: [server, 'works', '{{stateDir}}'],
    add: { tool: 'remember', arguments: { id: '{{id}}', text: '{{text}}' } },
    search: { tool: 'find', arguments: { query: '{{query}}' }, results: { ids: '$.hits[*].id' } },
  }
  const file = join(place.work, 'notes.json')
  writeFileSync(file, JSON.stringify(mapping))

  const { stdout } = await place.run('benchmark', 'run', 'retrieval-precision', '--system', `mcp:${file}`)

  expect(stdout).toMatch(/^notes claims updates\. Not offered: scopes, users, supersession\.$/mu)
  expect(stdout).toMatch(/^retrieval-precision +notes +MCP +completed +\d+\/60, 15 not offered or skipped /mu)
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

  it('counts a run that is killed before its first answer, and a score', async () => {
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

  it('cannot be sealed again', async () => {
    using place = referee()
    await seal(place)

    const again = await place.run('benchmark', 'seal', 'held-out.json', '--runs', '9')
    const seals = await place.run('benchmark', 'seal', 'held-out.json.seal.json')

    expect(again.exitCode).not.toBe(0)
    expect(seals.stderr).toContain('is a seal')
    expect(sealOf(place).maxRuns).toBe(1)
  })

  it.each<readonly [string, string, readonly string[]]>([
    [
      'a file of cases',
      'retrieval-precision/cases.json',
      ['eval', 'retrieval', '--beliefs', 'packs/retrieval-precision/beliefs.json', '--cases'],
    ],
    ['a task', 'everyday-notes/everyday-dates.md', ['task', 'run', '--agent', 'reference']],
    ['published data', 'locomo/sample.json', ['benchmark', 'run', 'locomo', '--system', 'credence', '--data']],
  ])('can be %s, also through a link', async (_kind, path, argv) => {
    using place = referee()
    cpSync(join(import.meta.dirname, '../../packs'), join(place.work, 'packs'), { recursive: true })
    const link = `linked${extname(path)}`
    symlinkSync(join(place.work, 'packs', path), join(place.work, link))
    await place.run('benchmark', 'seal', link)

    const first = await place.run(...argv, join('packs', path))
    // A task file that is a link is refused, so the task is named by its own path.
    const second = await place.run(...argv, argv[0] === 'task' ? join('packs', path) : link)

    expect(first.stderr).not.toContain('is sealed')
    expect(second.stderr).toContain('is sealed for 1 run, and 1 were made')
    const { looks } = JSON.parse(readFileSync(join(place.work, 'packs', `${path}.seal.json`), 'utf8'))
    expect(looks.filter(({ counts }: { counts: boolean }) => counts)).toHaveLength(1)
  })

  it('can be a pack, whose use every measuring command counts', async () => {
    using place = referee()
    cpSync(join(import.meta.dirname, '../../packs/session-drift'), join(place.work, 'drift'), { recursive: true })
    await place.run('benchmark', 'seal', 'drift')

    await place.run('benchmark', 'run', './drift')
    const { stderr } = await place.run('eval', 'all', '--packs', '.', '--backend', 'bm25')

    expect(stderr).toContain('is sealed for 1 run, and 1 were made')
  })
})
