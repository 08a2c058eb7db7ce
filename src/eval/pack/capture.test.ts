import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { memoryFrom } from '../../memory/memory.ts'
import { inMemory } from '../../store/sqlite/database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { startRun } from '../run/run.ts'
import { recallRunners } from '../runners/retrieval/retrieval-runner.ts'
import { openPackFolder } from '../runners/runner.ts'
import { eraseFromEvals } from '../store/erase.ts'
import { bm25System } from '../system/bm25.ts'
import { underTest } from '../system/under-test.ts'
import { type CaptureRequest, captureCase, ownPack } from './capture.ts'

const scopes = ['domain:sea']
const message = 'Is the Albatross ready for Sunday?'

const ours = () =>
  bm25System({ openStore: () => openSqliteStore({ file: inMemory, random: randomBytes }), version: '1' })
const aSubject = () => underTest(ours(), { ours, clock: () => 0 })

async function aMemory() {
  let ids = 0
  const ports = {
    store: openSqliteStore({ file: inMemory, random: randomBytes }),
    now: () => new Date('2026-03-06T10:00:00Z'),
    newId: () => `b-${++ids}`,
  }
  const memory = memoryFrom(ports, { user: 'ada', scopes, agent: null, author: { actor: 'person', origin: 'test' } })
  await memory.remember({ name: 'Albatross', content: 'A wooden dinghy.', type: 'entity' })
  await memory.remember({ name: 'Sunday race', aliases: ['Sunday'], content: 'Starts at nine.', type: 'entity' })
  await memory.remember({ name: 'tide table', content: 'High water is what counts.', type: 'preference' })
  return memory
}

const request = (fields: Partial<CaptureRequest>): CaptureRequest => ({
  message,
  scopes,
  expect: [],
  reject: [],
  exactly: false,
  asIs: false,
  replace: false,
  note: null,
  ...fields,
})

const at = (root: string) => ({ root, system: aSubject() })
const fileOf = (root: string, name: string) => JSON.parse(readFileSync(join(root, 'benchmarks', ownPack, name), 'utf8'))

describe('capturing a recall', () => {
  it('creates a case that fails as long as the recall is wrong', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()

    const captured = await captureCase(
      memory,
      request({ expect: ['Albatross', 'tide table'], reject: ['Sunday race'], note: 'the race is over' }),
      at(store.path),
    )

    expect(captured).toMatchObject({ passesNow: false, isFaithful: true, beliefsCopied: 3 })
    expect(captured.failures).toHaveLength(2)
    expect(captured.case).toMatchObject({
      description: 'Recalls Albatross, tide table; does not recall Sunday race.',
      notes: 'the race is over',
      expect: {
        relevantBeliefs: {
          mustInclude: [`${captured.caseId}.b-1`, `${captured.caseId}.b-3`],
          mustExclude: [`${captured.caseId}.b-2`],
        },
      },
    })
    expect(captured.caseId).toMatch(/^is-the-albatross-ready-for-sunday-[0-9a-f]{8}$/u)
  })

  it('captures a case that passes with the present answer and fails with any other', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()

    const captured = await captureCase(memory, request({ asIs: true }), at(store.path))

    expect(captured).toMatchObject({ passesNow: true, isFaithful: true })
    expect(captured.case.expect.relevantBeliefs?.shouldOnlyInclude).toHaveLength(2)
    const context = {
      root: store.path,
      now: () => new Date('2026-03-06T10:00:00Z'),
      signal: new AbortController().signal,
      environment: { given: {}, settings: {}, git: null, node: 'v', os: { platform: 'p', release: 'r', arch: 'a' } },
    }
    const directory = join(store.path, 'benchmarks', ownPack)
    const run = await startRun(
      await openPackFolder(
        directory,
        recallRunners(async () => aSubject()),
      ),
      'run-1',
      { repeats: 1, seed: 1 },
      context,
    )
    expect(run).toMatchObject({ benchmarkId: ownPack, status: 'completed', passedCases: 1, totalCases: 1 })
  })

  it('keeps earlier cases unchanged after later corrections', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    const before = await captureCase(memory, request({ expect: ['Albatross'] }), at(store.path))
    await memory.correct('Albatross', { content: 'Sold in spring.' })

    const after = await captureCase(memory, request({ asIs: true }), at(store.path))

    expect(after).toMatchObject({ passesNow: true, isFaithful: true })
    const beliefs: { readonly user: string; readonly name: string; readonly content: string }[] = fileOf(
      store.path,
      'beliefs.json',
    )
    const boats = beliefs.filter(({ name }) => name === 'Albatross')
    expect(boats.filter(({ user }) => user === before.caseId).map(({ content }) => content)).toEqual([
      'A wooden dinghy.',
    ])
    expect(boats.filter(({ user }) => user === after.caseId)).toHaveLength(2)
    expect(fileOf(store.path, 'manifest.json').cases).toHaveLength(2)
  })

  it('captures pinned beliefs, open questions and an empty recall', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    await memory.remember({ name: 'mooring fee', content: 'Is it paid?', type: 'open_question', pinned: true })
    await memory.pin('tide table')

    const captured = await captureCase(memory, request({ message: 'Good morning', asIs: true }), at(store.path))

    expect(captured).toMatchObject({ passesNow: true, isFaithful: true })
    expect(Object.keys(captured.case.expect).sort()).toEqual(['openQuestions', 'pinnedFacts', 'relevantBeliefs'])
    expect(captured.case.expect.relevantBeliefs).toEqual({ shouldOnlyInclude: [] })
  })

  it('refuses a duplicate case and contradictions, and a case about another scope fails', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    await captureCase(memory, request({ expect: ['Albatross'] }), at(store.path))
    await memory.remember({ name: 'levain', content: 'Feed it.', type: 'entity', scopes: ['domain:kitchen'] })

    const elsewhere = await captureCase(memory, request({ expect: ['levain'] }), at(store.path))
    expect(elsewhere).toMatchObject({
      passesNow: false,
      failures: [expect.stringContaining('"levain" was expected, but not recalled')],
    })
    await expect(captureCase(memory, request({ expect: ['nobody'] }), at(store.path))).rejects.toMatchObject({
      hint: expect.stringContaining('--expect-quote'),
      code: 'not_found',
    })
    await expect(
      captureCase(memory, request({ expect: ['tide table'], reject: ['tide table'] }), at(store.path)),
    ).rejects.toThrow('both expected and rejected')
    await captureCase(memory, request({ asIs: true }), at(store.path))
    await expect(captureCase(memory, request({ asIs: true }), at(store.path))).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(fileOf(store.path, 'cases.json')).toHaveLength(3)
  })

  it('replaces the cases of a message after the memory is corrected, and no other case', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    const other = await captureCase(memory, request({ message: 'Albatross?', asIs: true }), at(store.path))
    const before = await captureCase(memory, request({ reject: ['Sunday race'] }), at(store.path))
    await memory.edit('Sunday race', { removeAliases: ['Sunday'] })

    const again = captureCase(memory, request({ reject: ['Sunday race'] }), at(store.path))
    await expect(again).rejects.toMatchObject({ code: 'conflict', hint: expect.stringContaining('--replace') })
    const mended = await captureCase(memory, request({ reject: ['Sunday race'], replace: true }), at(store.path))

    expect([before.passesNow, mended.passesNow]).toEqual([false, true])
    const owners = (fileOf(store.path, 'beliefs.json') as { readonly user: string }[]).map(({ user }) => user)
    expect(new Set(owners)).toEqual(new Set([other.caseId, mended.caseId]))
    expect(owners.filter((user) => user === mended.caseId)).toHaveLength(mended.beliefsCopied)
    expect(fileOf(store.path, 'cases.json')).toHaveLength(2)
    expect(fileOf(store.path, 'manifest.json').cases).toHaveLength(2)
  })

  it('adds to an edited pack, but not to a broken one', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    await captureCase(memory, request({ expect: ['Albatross'] }), at(store.path))
    const manifest = join(store.path, 'benchmarks', ownPack, 'manifest.json')
    writeFileSync(manifest, JSON.stringify({ ...fileOf(store.path, 'manifest.json'), title: 'Mine' }))
    await captureCase(memory, request({ expect: ['Sunday race'] }), at(store.path))
    expect(fileOf(store.path, 'manifest.json')).toMatchObject({ title: 'Mine', cases: { length: 2 } })

    writeFileSync(join(store.path, 'benchmarks', ownPack, 'cases.json'), '[{"caseId": "x"')
    await expect(captureCase(memory, request({ asIs: true }), at(store.path))).rejects.toMatchObject({
      code: 'invalid',
    })
  })
})

describe('capturing a quote', () => {
  const gym = 'What is the code of the gym door?'
  const old = 'The gym code is 1188, says the flyer at the gym door.'

  /** A memory with many words, so that its threshold differs from the threshold of a few copied turns. */
  async function aTalkativeMemory() {
    const memory = await aMemory()
    const small = 'We talked about the plans for the weekend and what to eat. '
    await memory.hear([
      { text: 'Good morning.', role: 'assistant', session: 'monday', at: '2026-02-02T09:00:00Z' },
      { text: old, session: 'monday', at: '2026-02-02T09:01:00Z' },
      { text: 'Thanks.', role: 'assistant', session: 'monday', at: '2026-02-02T09:02:00Z' },
      { text: 'My sister sings in a choir.', session: 'tuesday', at: '2026-02-03T09:00:00Z' },
      { text: 'The gym is closed.', role: 'tool', session: 'tools', at: '2026-02-03T09:00:00Z' },
      ...Array.from({ length: 30 }, (_, number) => ({
        text: `${small.repeat(10)}${number}`,
        session: `small ${number}`,
      })),
    ])
    const turnOf = async (containing: string) => (await memory.turns({ containing })).items[0]?.id ?? ''
    return { memory, turnOf }
  }

  const runOf = async (root: string) => {
    const directory = join(root, 'benchmarks', ownPack)
    const kinds = recallRunners(async () => aSubject())
    const environment = {
      given: {},
      settings: {},
      git: null,
      node: 'v',
      os: { platform: 'p', release: 'r', arch: 'a' },
    }
    const now = () => new Date('2026-03-06T10:00:00Z')
    const context = { root, now, signal: new AbortController().signal, environment }
    const benchmark = await openPackFolder(directory, kinds)
    return startRun(benchmark, `run-${randomBytes(4).toString('hex')}`, { repeats: 1, seed: 1 }, context)
  }

  it('creates a case that passes if the turn is quoted, by its words or its id', async () => {
    using store = temporaryDirectory()
    const { memory, turnOf } = await aTalkativeMemory()
    const id = await turnOf('1188')
    const before = await memory.recall(gym)

    const byWords = await captureCase(memory, request({ message: gym, expectQuotes: ['code is 1188'] }), at(store.path))
    const byId = await captureCase(memory, request({ message: gym, expectQuotes: [id] }), at(store.path))

    expect(before.quotes).toMatchObject([{ turn: id }])
    expect(byWords).toMatchObject({ passesNow: true, isFaithful: true })
    expect(byWords.case).toMatchObject({
      description: 'Quotes "code is 1188".',
      expect: { quotes: { mustInclude: [{ turn: `${byWords.caseId}.${id}`, text: 'code is 1188' }] } },
    })
    expect(byId.case.expect).toEqual({ quotes: { mustInclude: [{ turn: `${byId.caseId}.${id}` }] } })
    expect(byId.caseId).not.toBe(byWords.caseId)
    expect(await runOf(store.path)).toMatchObject({ status: 'completed', passedCases: 2, totalCases: 2 })
  })

  it('fails as long as an expected quote is missing', async () => {
    using store = temporaryDirectory()
    const { memory } = await aTalkativeMemory()

    const missing = await captureCase(memory, request({ message: gym, expectQuotes: ['in a choir'] }), at(store.path))
    const otherWords = await captureCase(
      memory,
      request({ message: gym, expectQuotes: ['1188'], expect: ['Albatross'] }),
      at(store.path),
    )

    expect(missing).toMatchObject({
      passesNow: false,
      isFaithful: true,
      failures: ['quotes: "in a choir" was expected, but not quoted.'],
    })
    expect(otherWords.failures).toEqual(['relevant beliefs: "Albatross" was expected, but not recalled.'])
    expect(await runOf(store.path)).toMatchObject({ status: 'completed', passedCases: 0, failedCases: 2 })
  })

  it('fails while a forbidden quote appears, and passes without it', async () => {
    using store = temporaryDirectory()
    const { memory } = await aTalkativeMemory()

    const wrong = await captureCase(memory, request({ message: gym, forbidQuotes: ['1188'] }), at(store.path))
    const silent = await captureCase(memory, request({ message: gym, forbidQuotes: ['choir'] }), at(store.path))

    expect(wrong).toMatchObject({
      passesNow: false,
      isFaithful: true,
      failures: ['quotes: "1188" was quoted, but must not be.'],
    })
    expect(silent).toMatchObject({ passesNow: true, isFaithful: true })
    expect(await runOf(store.path)).toMatchObject({ passedCases: 1, failedCases: 1 })
  })

  it('copies the neighbouring turns and the number of all turns, but not their texts', async () => {
    using store = temporaryDirectory()
    const { memory } = await aTalkativeMemory()

    const captured = await captureCase(memory, request({ message: gym, expectQuotes: ['1188'] }), at(store.path))

    const turns: { readonly text: string; readonly session: string }[] = fileOf(store.path, 'turns.json')
    expect(turns.map(({ text }) => text)).toEqual(expect.arrayContaining(['Good morning.', old, 'Thanks.']))
    expect(turns.length).toBeLessThan(20)
    expect(turns.every(({ session }) => /^conversation-\d+$/u.test(session))).toBe(true)
    expect(captured.case.saidInAll?.words).toBeGreaterThan(3_000)
    expect(fileOf(store.path, 'manifest.json').files).toMatchObject({ turns: 'turns.json' })
  })

  it('keeps the distance between turns of a conversation', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    const small = Array.from({ length: 9 }, (_, number) => `Let us talk about plan ${number}.`)
    const texts = ['The gym code is 1188.', ...small, 'The gym door is red.']
    await memory.hear(texts.map((text, minute) => ({ text, session: 's1', at: `2026-02-02T09:${10 + minute}:00Z` })))

    await captureCase(memory, request({ message: gym, expectQuotes: ['1188'] }), at(store.path))

    const turns: { readonly text: string; readonly session: string; readonly index: number }[] = fileOf(
      store.path,
      'turns.json',
    )
    const placeOf = (wanted: string) => turns.flatMap(({ text, ...one }) => (text === wanted ? [one] : []))[0]
    expect(placeOf('The gym code is 1188.')).toMatchObject({ session: 'conversation-1', index: 0 })
    expect(placeOf('The gym door is red.')).toMatchObject({ session: 'conversation-2' })
  })

  it('expects the quotes of a recall that was right', async () => {
    using store = temporaryDirectory()
    const { memory, turnOf } = await aTalkativeMemory()

    const captured = await captureCase(memory, request({ message: gym, asIs: true }), at(store.path))

    expect(captured).toMatchObject({ passesNow: true, isFaithful: true })
    expect(captured.case.expect.quotes?.mustInclude).toEqual([{ turn: `${captured.caseId}.${await turnOf('1188')}` }])
  })

  it('refuses words that match no turn or several, turns of another scope, and contradictions', async () => {
    using store = temporaryDirectory()
    const { memory, turnOf } = await aTalkativeMemory()
    const captureWith = (fields: Partial<CaptureRequest>) =>
      captureCase(memory, request({ message: gym, ...fields }), at(store.path))

    await expect(captureWith({ expectQuotes: ['sauna'] })).rejects.toMatchObject({ code: 'not_found' })
    await expect(captureWith({ expectQuotes: ['the plans'] })).rejects.toMatchObject({ code: 'conflict' })
    await expect(captureWith({ scopes: ['domain:kitchen'], expectQuotes: [await turnOf('1188')] })).rejects.toThrow(
      'cannot be quoted here',
    )
    await expect(captureWith({ expectQuotes: ['1188'], forbidQuotes: ['1188'] })).rejects.toThrow('both expected')
  })
})

describe('forgetting a turn', () => {
  it('removes the cases that expect or forbid its quote, and its copies in the others', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    await memory.hear([
      { text: 'The choir sings on Thursday.', session: 's1', at: '2026-02-02T09:00:00Z' },
      { text: 'No.', session: 's1', at: '2026-02-02T09:01:00Z' },
      { text: 'The gym code is 1188.', session: 's1', at: '2026-02-02T09:02:00Z' },
    ])
    const [choir, no, code] = (await memory.turns({ session: 's1' })).items
    await captureCase(
      memory,
      request({ message: 'When does the choir sing?', expectQuotes: ['choir'] }),
      at(store.path),
    )
    await captureCase(memory, request({ message: 'What is the gym code?', forbidQuotes: ['1188'] }), at(store.path))
    const forget = (...turns: readonly (Turn | undefined)[]) =>
      eraseFromEvals(
        store.path,
        {
          beliefIds: [],
          names: [],
          said: turns.map((turn) => turn?.text ?? ''),
          turnIds: turns.map((turn) => turn?.id ?? ''),
        },
        '2026-03-06T10:00:00Z',
      )

    await forget(code, no)

    expect(fileOf(store.path, 'cases.json')).toMatchObject([{ query: 'When does the choir sing?' }])
    const left = JSON.stringify([fileOf(store.path, 'cases.json'), fileOf(store.path, 'turns.json')])
    expect(left).toContain('The choir sings on Thursday.')
    expect(left).not.toMatch(/1188|No\./u)
    await forget(choir)
    expect(existsSync(join(store.path, 'benchmarks', ownPack))).toBe(false)
  })
})
