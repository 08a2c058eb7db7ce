import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { memoryFrom } from '../../memory/memory.ts'
import { openModelStore } from '../../store/model-store.contract.ts'
import { openBenchmark } from '../kinds/kind.ts'
import { recallKinds } from '../kinds/retrieval/carry-out.ts'
import { runBenchmark } from '../run/run.ts'
import { bm25System } from '../system/bm25.ts'
import { systemSubject } from '../system/subject.ts'
import { type CaptureRequest, captureCase, ownPack } from './capture.ts'

const scopes = ['domain:sea']
const message = 'Is the Albatross ready for Sunday?'

const ours = () => bm25System({ openStore: () => openModelStore({ random: randomBytes }), version: '1' })
const aSubject = () => systemSubject(ours(), { ours, clock: () => 0 })

async function aMemory() {
  let ids = 0
  const ports = {
    store: openModelStore({ random: randomBytes }),
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

const at = (root: string) => ({ root, subject: aSubject() })
const fileOf = (root: string, name: string) => JSON.parse(readFileSync(join(root, 'benchmarks', ownPack, name), 'utf8'))

describe('capturing a recall', () => {
  it('makes a case that fails as long as the recall is wrong', async () => {
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

  it('makes a case that passes when the answer is taken as it is, and notices any other answer', async () => {
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
    const run = await runBenchmark(
      await openBenchmark(
        directory,
        recallKinds(async () => aSubject()),
      ),
      'run-1',
      { repeats: 1, seed: 1 },
      context,
    )
    expect(run).toMatchObject({ benchmarkId: ownPack, status: 'completed', passedCases: 1, totalCases: 1 })
  })

  it('keeps cases apart: what is corrected later changes no earlier case', async () => {
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

  it('takes pins, questions and silence for what they are', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    await memory.remember({ name: 'mooring fee', content: 'Is it paid?', type: 'open_question', pinned: true })
    await memory.pin('tide table')

    const captured = await captureCase(memory, request({ message: 'Good morning', asIs: true }), at(store.path))

    expect(captured).toMatchObject({ passesNow: true, isFaithful: true })
    expect(Object.keys(captured.case.expect).sort()).toEqual(['openQuestions', 'pinnedFacts', 'relevantBeliefs'])
    expect(captured.case.expect.relevantBeliefs).toEqual({ shouldOnlyInclude: [] })
  })

  it('refuses the same case twice, and what could never be recalled', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    await captureCase(memory, request({ expect: ['Albatross'] }), at(store.path))
    await memory.remember({ name: 'levain', content: 'Feed it.', type: 'entity', scopes: ['domain:kitchen'] })
    const replaced = (await memory.get('Albatross')).id
    await memory.correct('Albatross', { content: 'Sold in spring.' })

    await expect(captureCase(memory, request({ expect: ['levain'] }), at(store.path))).rejects.toThrow(
      'cannot be expected here',
    )
    await expect(captureCase(memory, request({ expect: [replaced] }), at(store.path))).rejects.toThrow(
      'it was replaced or settled',
    )
    await expect(captureCase(memory, request({ expect: ['nobody'] }), at(store.path))).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(
      captureCase(memory, request({ expect: ['tide table'], reject: ['tide table'] }), at(store.path)),
    ).rejects.toThrow('both expected and rejected')
    await captureCase(memory, request({ asIs: true }), at(store.path))
    await expect(captureCase(memory, request({ asIs: true }), at(store.path))).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(fileOf(store.path, 'cases.json')).toHaveLength(2)
  })

  it('replaces the cases of a message once the memory is mended, and no other case', async () => {
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

  it('adds to a pack that somebody edited, and not to one that is broken', async () => {
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
