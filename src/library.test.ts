import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { MemoryError } from './errors.ts'
import { openMemory, renderContext, shadowRecall } from './library.ts'

/** The library without types, as plain JavaScript sees it. */
type Untyped = Record<string, (...args: readonly unknown[]) => Promise<unknown>>

const errorOf = async (call: () => unknown): Promise<MemoryError> => {
  try {
    await call()
  } catch (error) {
    expect(error).toBeInstanceOf(MemoryError)
    return error as MemoryError
  }
  throw new Error('nothing was thrown')
}

function opened() {
  const directory = temporaryDirectory()
  const memory = openMemory({ dir: join(directory.path, 'memory'), scopes: ['domain:code'] })
  return {
    memory,
    untyped: memory as unknown as Untyped,
    [Symbol.asyncDispose]: async () => {
      await memory.close()
      directory[Symbol.dispose]()
    },
  }
}

describe('openMemory', () => {
  it.each([
    [[], 'openMemory: options is missing; it must be an object.'],
    [['./memory'], 'openMemory: options is "./memory"; it must be an object.'],
    [[{}], 'openMemory: dir is missing; it must be text.'],
    [[{ dir: 5 }], 'openMemory: dir is 5; it must be text.'],
    [[{ dir: ' ' }], 'openMemory: dir is blank; it must be the path of a directory.'],
    [[{ dir: '.', scope: ['domain:code'] }], 'openMemory has no option "scope". Did you mean "scopes"?'],
    [[{ dir: '.', scopes: 'domain:code' }], 'openMemory: scopes is "domain:code"; it must be a list.'],
    [[{ dir: '.', scopes: ['domain:code', 7] }], 'openMemory: scopes.1 is 7; it must be text.'],
    [[{ dir: '.', mirror: 'yes' }], 'openMemory: mirror is "yes"; it must be true or false.'],
    [
      [{ dir: '.', author: { actor: 'robot', origin: 'x' } }],
      'openMemory: author.actor is "robot"; it must be one of agent, document, model, person, tool.',
    ],
    [[{ dir: '.', busyTimeoutMs: Number.NaN }], 'openMemory: busyTimeoutMs is NaN; it must be a number.'],
    [[{ dir: '.', onMirrorProblem: true }], 'openMemory: onMirrorProblem is true; it must be a function.'],
  ])('refuses %j', async (args, message) => {
    const error = await errorOf(() => (openMemory as (...args: readonly unknown[]) => unknown)(...args))

    expect(error).toMatchObject({ code: 'invalid', message, hint: expect.stringMatching(/\S/u) })
  })
})

const wrongCalls: readonly (readonly [string, readonly unknown[], string])[] = [
  ['remember', [], 'memory.remember: statement is missing; it must be an object.'],
  ['remember', [{ name: 'a' }], 'memory.remember: content is missing; it must be text.'],
  ['remember', [{ name: 'a', content: 5 }], 'memory.remember: content is 5; it must be text.'],
  [
    'remember',
    [{ name: 'a', content: 'b', alias: 'c' }],
    'memory.remember has no option "alias". Did you mean "aliases"?',
  ],
  ['remember', [{ name: 'a', content: 'b', type: 'fact' }], 'memory.remember: type is "fact"; it must be one of '],
  [
    'remember',
    [{ name: 'a', content: 'b', expertise: { domain: 'c' } }],
    'memory.remember: expertise.depth is missing',
  ],
  ['learn', [null], 'memory.learn: text is null; it must be text.'],
  ['learn', ['a', { extractor: 'rules' }], 'memory.learn: extractor is "rules"; it must be an Extractor.'],
  ['hear', [null], 'memory.hear: turns is null; it must be an object or a list.'],
  ['hear', ['hello'], 'memory.hear: turns is "hello"; it must be an object or a list.'],
  ['hear', [[{ text: 'a' }, { txet: 'b' }]], 'memory.hear has no option "turns.1.txet". Did you mean "text"?'],
  [
    'hear',
    [{ text: 'a', role: 'human' }],
    'memory.hear: turns.role is "human"; it must be one of assistant, tool, user.',
  ],
  ['hear', [{ text: 'a' }, { signal: {} }], 'memory.hear: signal is an object; it must be an AbortSignal.'],
  ['turns', [{ limit: '5' }], 'memory.turns: limit is "5"; it must be a number.'],
  ['turn', [5], 'memory.turn: reference is 5; it must be text.'],
  ['learnedFrom', [5], 'memory.learnedFrom: turn is 5; it must be text.'],
  ['whyTurn', ['a', 5], 'memory.whyTurn: turn is 5; it must be text.'],
  ['conversations', [{ session: 'a' }], 'memory.conversations has no option "session".'],
  ['embedTexts', [{ limit: 'all' }], 'memory.embedTexts: limit is "all"; it must be a number.'],
  ['forgetTurns', ['trip'], 'memory.forgetTurns: selection is "trip"; it must be an object.'],
  [
    'forgetTurns',
    [{ session: 'a' }, { dryrun: true }],
    'memory.forgetTurns has no option "dryrun". Did you mean "dryRun"?',
  ],
  ['recall', [], 'memory.recall: message is missing; it must be text.'],
  ['recall', [5], 'memory.recall: message is 5; it must be text.'],
  ['recall', ['a', null], 'memory.recall: options is null; it must be an object.'],
  ['recall', ['a', { scopes: 'domain:code' }], 'memory.recall: scopes is "domain:code"; it must be a list.'],
  [
    'recall',
    ['a', { budget: { maxBelief: 3 } }],
    'memory.recall has no option "budget.maxBelief". Did you mean "maxBeliefs"?',
  ],
  ['recall', ['a', { message: 'b' }], 'memory.recall has no option "message".'],
  ['recall', ['a', { user: 'eve' }], 'memory.recall has no option "user".'],
  ['search', ['a', { in: 'everything' }], 'memory.search: in is "everything"; it must be one of beliefs, both, turns.'],
  ['why', ['a'], 'memory.why: reference is missing; it must be text.'],
  ['suggestAliases', ['a'], 'memory.suggestAliases: reference is missing; it must be text.'],
  ['remedies', ['a', 'b'], 'memory.remedies: options is missing; it must be an object.'],
  ['remedies', ['a', 'b', {}], 'memory.remedies: wish is missing; it must be one of absent, present.'],
  ['correct', ['a'], 'memory.correct: correction is missing; it must be an object.'],
  ['correct', ['a', 'b'], 'memory.correct: correction is "b"; it must be an object.'],
  ['reinforce', [{}], 'memory.reinforce: reference is an object; it must be text.'],
  ['confirm', ['a', { kye: 'b' }], 'memory.confirm has no option "kye". Did you mean "key"?'],
  ['pin', [5], 'memory.pin: reference is 5; it must be text.'],
  ['unpin', [true], 'memory.unpin: reference is true; it must be text.'],
  ['addAliases', ['a', 'b'], 'memory.addAliases: aliases is "b"; it must be a list.'],
  ['removeAliases', ['a', [1]], 'memory.removeAliases: aliases.0 is 1; it must be text.'],
  ['setWhy', ['a'], 'memory.setWhy: why is missing; it must be text.'],
  ['edit', ['a', { pin: true }], 'memory.edit has no option "pin". Did you mean "pinned"?'],
  ['edit', ['a', {}, { expectedVersion: '1' }], 'memory.edit: expectedVersion is "1"; it must be a number.'],
  ['resolve', ['a', 5], 'memory.resolve: by is 5; it must be an object.'],
  ['resolve', ['a', { name: 'b' }], 'memory.resolve: by.content is missing; it must be text.'],
  ['forget', [5], 'memory.forget: reference is 5; it must be text.'],
  ['forget', ['a', { whole: true }], 'memory.forget has no option "whole". Did you mean "wholeChain"?'],
  ['previewForget', [5], 'memory.previewForget: reference is 5; it must be text.'],
  ['undo', ['last'], 'memory.undo: event is "last"; it must be a number.'],
  ['get', [undefined], 'memory.get: reference is missing; it must be text.'],
  ['list', [{ type: 'decision' }], 'memory.list has no option "type". Did you mean "types"?'],
  ['find', [{ limit: 3 }], 'memory.find: query is an object; it must be text.'],
  ['history', ['a', { limit: 3 }], 'memory.history takes 1 argument; 2 were given.'],
  ['events', [10], 'memory.events: options is 10; it must be an object.'],
  ['accept', [[]], 'memory.accept: proposal is a list; it must be text.'],
  ['reject', [() => {}], 'memory.reject: proposal is a function; it must be text.'],
  ['import', [{}], 'memory.import: text is an object; it must be text.'],
  ['import', ['a', { format: 'csv' }], 'memory.import: format is "csv"; it must be one of markdown, records.'],
  ['export', [{ scope: 'a' }], 'memory.export has no option "scope". Did you mean "scopes"?'],
  ['exportTurns', ['a'], 'memory.exportTurns: options is "a"; it must be an object.'],
  ['giveFeedback', ['a', 'great'], 'memory.giveFeedback: verdict is "great"; it must be one of not-useful, useful.'],
  ['review', [{ limit: 'ten' }], 'memory.review: limit is "ten"; it must be a number.'],
]

describe('a call with a wrong argument', () => {
  it.each(wrongCalls)('%s(%j) reports the error and the allowed values', async (name, args, message) => {
    await using here = opened()

    const error = await errorOf(() => here.untyped[name]?.(...args))

    expect(error.message).toContain(message)
    expect(error).toMatchObject({ code: 'invalid', hint: expect.stringMatching(/\S/u) })
  })

  it('is tested for every method with arguments', async () => {
    await using here = opened()
    const without = ['close', 'scopes', 'proposals', 'candidates', 'meaningStatus', 'feedback']

    expect([...new Set(wrongCalls.map(([name]) => name)), ...without].sort()).toEqual(Object.keys(here.memory).sort())
  })
})

it('treats an undefined option like a missing one', async () => {
  await using here = opened()
  const draft = { name: 'tea', content: 'Tea is at four.', why: undefined, scopes: undefined, key: undefined }
  await here.untyped.remember?.(draft)

  const context = await here.untyped.recall?.('When is tea?', { scopes: undefined, budget: { maxPinned: undefined } })

  expect(context).toMatchObject({ scopes: ['domain:code'], relevant: [{ belief: { name: 'tea' } }] })
  expect(await here.untyped.search?.('tea', undefined)).toMatchObject({ total: 1 })
})

it('renderContext refuses a value that is not a context', async () => {
  const error = await errorOf(() => renderContext('a message' as never))

  expect(error.message).toBe('renderContext: the context is not an object.')
})

describe('shadowRecall', () => {
  it('stores one record of every recall, without any word of the message or the memory', async () => {
    using directory = temporaryDirectory()
    const dir = join(directory.path, 'memory')
    const memory = shadowRecall(openMemory({ dir, scopes: ['domain:code'] }), { dir })
    const { belief } = await memory.remember({ name: 'redis cache', content: 'Sessions live in Redis.' })

    const context = await memory.recall('Why is the redis cache cold?')
    await memory.recall('Nothing to do with it.')
    await memory.close()

    const records = globSync(join(dir, 'state/evals/shadow/*/*.json')).map((file) => readFileSync(file, 'utf8'))
    expect(context.relevant.map((relevant) => relevant.belief.id)).toEqual([belief.id])
    expect(records).toHaveLength(2)
    expect(records.filter((record) => record.includes(belief.id))).toHaveLength(1)
    for (const word of ['redis', 'cache', 'Sessions', 'Nothing']) expect(records.join()).not.toContain(word)
  })

  const memoryLike = new Proxy({}, { get: () => () => {} })
  it.each([
    [[], 'shadowRecall: memory is missing; it must be a Memory.'],
    [[{}, { dir: '.' }], 'shadowRecall: memory is an object; it must be a Memory.'],
    [[memoryLike, {}], 'shadowRecall: dir is missing; it must be text.'],
    [[memoryLike, { dir: '.', session: 'a' }], 'shadowRecall has no option "session".'],
  ])('refuses %j', async (args, message) => {
    const error = await errorOf(() => (shadowRecall as (...args: readonly unknown[]) => unknown)(...args))

    expect(error.message).toContain(message)
  })
})

describe('a file that the system refuses', () => {
  it('is a MemoryError with advice', async () => {
    using directory = temporaryDirectory()
    const dir = join(directory.path, 'memory')
    const memory = openMemory({ dir })
    const { belief } = await memory.remember({ name: 'tea', content: 'Oolong.' })
    writeFileSync(join(dir, 'state', 'forgetting'), '')

    const error = await errorOf(() => memory.forget(belief.id))
    rmSync(join(dir, 'state', 'forgetting'))
    await memory.forget(belief.id)
    await memory.close()

    expect(error).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('directory') })
    expect(error.message).toContain(join(dir, 'state', 'forgetting'))
  })
})
