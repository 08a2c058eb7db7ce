import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { belief, staticCase } from '../../../../test/eval/sample-corpus.ts'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { findPacks, loadPack, type Pack, readPack } from './pack.ts'

type Files = { readonly beliefs: unknown; readonly cases: unknown }

/** Writes texts unchanged and other values as JSON, then reads the pack. */
function read(
  directory: string,
  kind: Pack['kind'],
  { beliefs, cases }: Files,
  options: { strict?: boolean; defaultUser?: string } = {},
): Pack {
  const place = (name: string, value: unknown): string => {
    const file = join(directory, name)
    writeFileSync(file, value instanceof Uint8Array || typeof value === 'string' ? value : JSON.stringify(value))
    return file
  }
  const files = { beliefsFile: place('beliefs.json', beliefs), casesFile: place('cases.json', cases) }
  return readPack({ kind, id: 'p', title: 'P', ...files, ...options })
}

const only = (...ids: string[]) => ({ relevantBeliefs: { shouldOnlyInclude: ids } })
const oneCase = [staticCase('a', 'the anchor', only('b-anchor'))]
const turn = (turnIndex: number, expect_: unknown, fields: object = {}) => ({
  turnIndex,
  label: 'drift',
  scope: ['domain:boats'],
  userMessage: 'm',
  expect: expect_,
  ...fields,
})

describe('readPack', () => {
  it('reads beliefs in either spelling and determines their user', () => {
    using directory = temporaryDirectory()
    const beliefs = [
      belief('b-anchor'),
      { id: 'b-sail', user: 'ann', name: 'sail', content: 'A sail.', scopes: ['domain:boats'] },
      belief('b-other', { user_id: 'bob' }),
    ]

    const pack = read(directory.path, 'retrieval', { beliefs, cases: oneCase })

    expect(pack.beliefs.map(({ id, user, name }) => [id, user, name])).toEqual([
      ['b-anchor', 'ann', 'anchor'],
      ['b-sail', 'ann', 'sail'],
      ['b-other', 'bob', 'other'],
    ])
    expect(pack.cases[0]?.user).toBe('ann')
  })

  it('prefers the given user to the user with the most beliefs', () => {
    using directory = temporaryDirectory()

    const pack = read(
      directory.path,
      'retrieval',
      { beliefs: [belief('b-anchor')], cases: oneCase },
      { defaultUser: 'eve' },
    )

    expect(pack.cases[0]?.user).toBe('eve')
  })

  it('has a hash that changes with the cases, the corpus and the recall options', () => {
    using directory = temporaryDirectory()
    const files = { beliefs: [belief('b-anchor')], cases: oneCase }
    const { hash } = read(directory.path, 'retrieval', files)

    const same = read(directory.path, 'retrieval', files)
    const others = [
      read(directory.path, 'retrieval', { ...files, cases: [staticCase('a', 'an anchor', only('b-anchor'))] }),
      read(directory.path, 'retrieval', { ...files, beliefs: [belief('b-anchor', { aliases: ['x'] })] }),
    ]

    expect(same.hash).toBe(hash)
    for (const other of others) expect(other.hash).not.toBe(hash)
  })

  it('warns of a case that cannot fail, and refuses it when strict', () => {
    using directory = temporaryDirectory()
    const files = {
      beliefs: [belief('b-anchor')],
      cases: [staticCase('idle', 'q', { pinnedFacts: { mustInclude: [] } })],
    }

    expect(read(directory.path, 'retrieval', files).warnings).toEqual([
      expect.stringMatching(/cases.json: case "idle" checks nothing/u),
    ])
    expect(() => read(directory.path, 'retrieval', files, { strict: true })).toThrow(/case "idle" checks nothing/u)
  })

  it('warns of an unknown field of a belief', () => {
    using directory = temporaryDirectory()
    const files = { beliefs: [belief('b-anchor', { mood: 'good' })], cases: oneCase }

    expect(read(directory.path, 'retrieval', files).warnings).toEqual([
      expect.stringMatching(/beliefs.json, item 1: .*mood/u),
    ])
    expect(() => read(directory.path, 'retrieval', files, { strict: true })).toThrow(/mood/u)
  })

  it.each([
    ['not JSON', { beliefs: '[{', cases: oneCase }, /beliefs.json: not JSON/u],
    ['cases that are not JSON', { beliefs: [belief('b-anchor')], cases: '[{"caseId": ' }, /cases.json: not JSON/u],
    ['an empty file', { beliefs: '', cases: oneCase }, /beliefs.json is empty/u],
    ['not UTF-8', { beliefs: Uint8Array.of(0x5b, 0xff, 0xfe, 0x5d), cases: oneCase }, /not UTF-8/u],
    [
      'a belief without a name',
      { beliefs: [belief('b-anchor', { canonical_name: undefined })], cases: oneCase },
      /item 1: .*name/u,
    ],
    [
      'a duplicate id',
      { beliefs: [belief('b-anchor'), belief('b-anchor')], cases: oneCase },
      /item 2: the id "b-anchor" was used before/u,
    ],
    [
      'a duplicate id of two users',
      { beliefs: [belief('b-anchor'), belief('b-anchor', { user_id: 'bob' })], cases: oneCase },
      /item 2: the id "b-anchor" was used before/u,
    ],
    [
      'an unknown required belief',
      { beliefs: [belief('b-anchor')], cases: [staticCase('a', 'q', only('b-sail'))] },
      /case "a", expect.relevantBeliefs.shouldOnlyInclude: there is no belief "b-sail"/u,
    ],
    [
      'an unknown forbidden belief',
      { beliefs: [belief('b-anchor')], cases: [staticCase('a', 'q', { openQuestions: { mustExclude: ['b-x'] } })] },
      /openQuestions.mustExclude: there is no belief "b-x"/u,
    ],
    [
      'an unknown belief in an order',
      {
        beliefs: [belief('b-anchor')],
        cases: [staticCase('a', 'q', { relevantBeliefs: { orderedBefore: [['b-anchor', 'b-x']] } })],
      },
      /orderedBefore: there is no belief "b-x"/u,
    ],
  ])('refuses %s, with file, place and reason', (_what, files, reason) => {
    using directory = temporaryDirectory()

    const reading = () => read(directory.path, 'retrieval', files)

    expect(reading).toThrow(reason)
    expect(reading).toThrow(expect.objectContaining({ code: 'invalid' }))
  })

  it.each([
    ['a missing file', '/nowhere/beliefs.json', /There is no file/u],
    ['a directory', import.meta.dirname, /is a directory/u],
  ])('refuses %s', (_what, beliefsFile, reason) => {
    expect(() => readPack({ kind: 'retrieval', id: 'p', title: 'P', beliefsFile, casesFile: beliefsFile })).toThrow(
      reason,
    )
  })
})

describe('a session pack', () => {
  const beliefs = [belief('b-anchor')]
  const created = { createBeliefAtTurn: belief('b-sail') }

  it('may exclude a belief before it is created and expect it afterwards', () => {
    using directory = temporaryDirectory()
    const turns = [turn(0, { noiseCheck: { mustNotSurface: ['b-sail'] } }, created), turn(1, only('b-sail'))]

    const pack = read(directory.path, 'session', { beliefs, cases: [{ caseId: 's', turns }] })

    expect(pack.cases[0]?.updates).toMatchObject([{ kind: 'create', belief: { id: 'b-sail', user: 'ann' } }])
  })

  it('contains the whole changed belief, with the changes of earlier turns', () => {
    using directory = temporaryDirectory()
    const update = (fields: object) => ({ updateBeliefAtTurn: { beliefId: 'b-sail', ...fields } })
    const turns = [
      turn(0, only(), created),
      turn(1, only(), update({ addAliases: ['jib'], setCanonicalName: 'headsail' })),
      turn(2, only(), update({ setContent: 'Torn.' })),
    ]

    const pack = read(directory.path, 'session', { beliefs, cases: [{ caseId: 's', turns }] })

    expect(pack.cases[2]?.updates).toMatchObject([
      { kind: 'replace', belief: { id: 'b-sail', name: 'headsail', aliases: ['jib'], content: 'Torn.', user: 'ann' } },
    ])
  })

  it.each([
    [
      'updates a belief before it is created',
      [turn(0, only(), { updateBeliefAtTurn: { beliefId: 'b-sail' } }), turn(1, only(), created)],
      /turn 0, updateBeliefAtTurn: the belief "b-sail" is created only later/u,
    ],
    [
      'expects a belief before it is created',
      [turn(0, only('b-sail'), created)],
      /turn 0, .*the belief "b-sail" is created only later/u,
    ],
    [
      'creates an existing belief',
      [turn(0, only(), { createBeliefAtTurn: belief('b-anchor') })],
      /turn 0: createBeliefAtTurn makes "b-anchor", which exists/u,
    ],
    [
      'updates a missing belief',
      [turn(0, only(), { updateBeliefAtTurn: { beliefId: 'b-x' } })],
      /turn 0, updateBeliefAtTurn: there is no belief "b-x"/u,
    ],
    [
      'creates an invalid belief',
      [turn(0, only(), { createBeliefAtTurn: { _id: 'b-x' } })],
      /turn 0, createBeliefAtTurn, item 1: /u,
    ],
  ])('is refused if it %s', (_what, turns, reason) => {
    using directory = temporaryDirectory()

    expect(() => read(directory.path, 'session', { beliefs, cases: [{ caseId: 's', turns }] })).toThrow(reason)
  })
})

describe('a pack in a folder', () => {
  const manifest = {
    schemaVersion: 1,
    benchmarkId: 'boats',
    title: 'Boats',
    runner: 'retrieval',
    files: { beliefs: 'beliefs.json', cases: 'cases.json' },
    cases: [{ id: 'a', prompt: 'the anchor' }],
  }

  const write = (directory: string, overrides: object): string => {
    const folder = join(directory, 'boats')
    mkdirSync(folder)
    writeFileSync(join(folder, 'beliefs.json'), JSON.stringify([belief('b-anchor')]))
    writeFileSync(join(folder, 'cases.json'), JSON.stringify(oneCase))
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, ...overrides }))
    return folder
  }

  it('is found by its manifest and read completely', () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, 'not-a-pack'))
    const folder = write(directory.path, { recall: { editedPins: 'everywhere' } })

    expect(findPacks(directory.path)).toEqual([folder])
    expect(loadPack(folder)).toMatchObject({
      runner: 'retrieval',
      pack: { id: 'boats', recall: { editedPins: 'everywhere' } },
    })
    expect(loadPack(folder, { recall: { editedPins: 'in-scope' } }).pack.recall).toEqual({ editedPins: 'in-scope' })
  })

  it.each([
    ['another version', { schemaVersion: 2 }, /schemaVersion/u],
    ['an unknown runner', { runner: 'magic' }, /runner/u],
    ['an unknown key', { runnner: 'retrieval' }, /manifest: .*runnner/u],
    ['an id that is not a folder name', { benchmarkId: '../x' }, /benchmarkId/u],
    [
      'a file outside the folder',
      { files: { beliefs: '../beliefs.json', cases: 'cases.json' } },
      /files.beliefs .*must be a relative path inside the pack/u,
    ],
    ['no case', { cases: [] }, /cases .*at least 1 item/u],
    ['a missing case', { cases: [{ id: 'b', prompt: 'x' }] }, /the case "a" of the case file is not listed/u],
    [
      'an extra case',
      { cases: [...manifest.cases, { id: 'b', prompt: 'x' }] },
      /lists "b", which is not in the case file/u,
    ],
    ['a duplicate case', { cases: [...manifest.cases, ...manifest.cases] }, /cases\[1\]\.id .*must be unique/u],
    ['another prompt than its case', { cases: [{ id: 'a', prompt: 'the sail' }] }, /the prompt of "a" is not the one/u],
  ])('is refused with %s', (_what, overrides, reason) => {
    using directory = temporaryDirectory()
    const folder = write(directory.path, overrides)

    expect(() => loadPack(folder)).toThrow(reason)
  })

  it('is searched for in a directory only', () => {
    expect(() => findPacks('/nowhere')).toThrow(/no such directory/u)
  })
})
