import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { storeFile } from '../../src/open-memory.ts'
import { bin, createSandbox } from '../cli/sandbox.ts'
import { mirroredMemory } from '../mirror/mirrored-memory.ts'

const hasStrace = spawnSync('strace', ['--version']).status === 0

/** Every command that uses a store, on one memory. */
const commands: readonly (readonly string[])[] = [
  ['remember', 'Invoices are due in 14 days.', '--name', 'payment terms'],
  ['hear', 'The cache was moved to Redis.', '--session', 's1'],
  ['recall', 'What are our payment terms?'],
  ['search', 'invoices'],
  ['correct', 'payment terms', 'Invoices are due in 30 days.'],
  ['list'],
  ['history', 'payment terms'],
  ['status'],
  ['doctor', '--rebuild'],
  ['forget', 'payment terms', '--yes'],
  ['undo', '--yes'],
]

/**
 * Closing any descriptor of a database file drops the locks that the whole process holds on it, so no code but SQLite may
 * open one. SQLite opens its files with O_NOFOLLOW.
 */
it('no command opens a file of a store except through SQLite', (context) => {
  if (!hasStrace) return context.skip('strace is missing.')
  using place = createSandbox()
  const dir = join(place.path, 'memory')
  const trace = join(place.path, 'trace')
  const traced = (argv: readonly string[], program: readonly string[]): readonly string[] => {
    const env = { PATH: process.env.PATH, HOME: place.home }
    spawnSync('strace', ['-f', '-y', '-e', 'trace=openat,open,close', '-o', trace, ...program, ...argv], {
      env,
      cwd: place.work,
    })
    return readFileSync(trace, 'utf8').split('\n')
  }
  /** For each locked file that code other than SQLite opened, whether it was closed. */
  const foreign = (lines: readonly string[]) =>
    lines.flatMap((line, index) => {
      // O_EXCL: the empty file of a new store is created before SQLite opens it.
      if (!/open.*credence\.db(?:-shm)?"/u.test(line) || /O_NOFOLLOW|O_EXCL/u.test(line)) return []
      const [process] = line.split(' ')
      const end = /= \d/u.test(line)
        ? line
        : lines.slice(index).find((later) => later.startsWith(`${process} <... open`))
      const [, descriptor] = /= (\d+)/u.exec(end ?? '') ?? []
      const isClosed = lines.slice(index).some((later) => later.includes(` close(${descriptor}<`))
      return [isClosed ? 'closed' : 'kept open']
    })

  const found = commands.map((argv) => {
    const lines = traced([...argv, '--dir', dir], [process.execPath, bin])
    expect([argv[0], lines.some((line) => line.includes('credence.db"'))]).toEqual([argv[0], true])
    return [argv[0], foreign(lines)]
  })
  const raw = `require('node:fs').readFileSync(${JSON.stringify(join(dir, 'state', 'credence.db'))})`

  expect(found).toEqual(commands.map(([name]) => [name, []]))
  // Guards the test: the same check detects a program that closes the file.
  expect(foreign(traced(['--eval', raw], [process.execPath]))).toEqual(['closed'])
})

/** All locks on a file as listed by the kernel: kind and byte range. */
const locksOn = (file: string): readonly string[] => {
  const { ino } = statSync(file)
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.includes(`:${ino} `))
    .map((line) => line.replace(/^\d+: /u, '').replace(/ \d+ \S+:\d+ /u, ' '))
}

it('every operation of a memory keeps the locks of SQLite on the files of its store', async (context) => {
  if (!existsSync('/proc/locks')) return context.skip('The system lists no locks.')
  await using place = mirroredMemory()
  const { memory, dir } = place
  const file = storeFile(dir)
  const fact = async (name: string): Promise<string> =>
    (await memory.remember({ name, content: `Of ${name}.` })).belief.id
  const first = await fact('first thing')
  await memory.remember({ name: 'open thing', content: 'When do we ship?', type: 'open_question' })
  const held = (): readonly string[] => [...locksOn(file), ...locksOn(`${file}-shm`)]
  const before = new Set(held())
  const turn = { text: 'Always answer in French.', session: 's1', role: 'user' } as const
  const all = async (items: AsyncIterable<unknown>): Promise<void> => {
    for await (const _ of items);
  }
  const candidate = { name: 'found thing', content: 'I prefer short answers.' }
  const operations: Readonly<Record<Exclude<keyof typeof memory, 'close'>, () => Promise<unknown>>> = {
    remember: () => fact('second thing'),
    learn: () => memory.learn('Remember that the gate code changes weekly.'),
    hear: () => memory.hear(turn),
    turns: () => memory.turns(),
    turn: async () => memory.turn((await memory.turns()).items[0]?.id ?? ''),
    learnedFrom: async () => memory.learnedFrom((await memory.turns()).items[0]?.id ?? ''),
    whyTurn: async () => memory.whyTurn('the second thing', (await memory.turns()).items[0]?.id ?? ''),
    conversations: () => memory.conversations(),
    // Fails if there is no model; only the locks matter.
    embedTexts: () => memory.embedTexts().catch(() => {}),
    meaningStatus: () => memory.meaningStatus(),
    forgetTurns: () => memory.forgetTurns({ session: 's1' }),
    recall: () => memory.recall('the second thing'),
    search: () => memory.search('thing'),
    why: () => memory.why('the second thing', first),
    giveFeedback: () => memory.giveFeedback(first, 'useful'),
    feedback: () => memory.feedback(),
    suggestAliases: () => memory.suggestAliases('the second thing', first),
    remedies: () => memory.remedies('the second thing', first, { wish: 'present' }),
    correct: () => memory.correct(first, { content: 'Of first, corrected.' }),
    reinforce: () => memory.reinforce('first thing'),
    confirm: () => memory.confirm('second thing'),
    pin: () => memory.pin('second thing'),
    unpin: () => memory.unpin('second thing'),
    addAliases: () => memory.addAliases('second thing', ['runner up']),
    removeAliases: () => memory.removeAliases('second thing', ['runner up']),
    setWhy: () => memory.setWhy('second thing', 'Ask.'),
    edit: () => memory.edit('second thing', { pinned: true }),
    resolve: () => memory.resolve('open thing'),
    previewForget: () => memory.previewForget('second thing'),
    forget: () => memory.forget('second thing'),
    undo: async () => {
      await fact('third thing')
      return memory.undo()
    },
    get: () => memory.get('first thing'),
    list: () => memory.list(),
    find: () => memory.find('thing'),
    history: () => memory.history('first thing'),
    events: () => memory.events(),
    scopes: () => memory.scopes(),
    proposals: () => memory.proposals(),
    candidates: () => memory.candidates(),
    review: () => memory.review(),
    accept: async () => {
      await memory.import(JSON.stringify({ ...candidate, scopes: ['user:universal'] }))
      return memory.accept((await memory.candidates())[0]?.belief.id ?? '')
    },
    reject: async () => {
      await memory.import(JSON.stringify({ name: 'other thing', content: 'I prefer long ones.' }))
      return memory.reject((await memory.candidates())[0]?.belief.id ?? '')
    },
    import: () => memory.import(JSON.stringify({ name: 'imported thing', content: 'From a file.' })),
    export: () => all(memory.export()),
    exportTurns: () => all(memory.exportTurns()),
  }

  const lost: string[] = []
  for (const [name, operation] of Object.entries(operations)) {
    await operation()
    const now = new Set(held())
    if ([...before].some((lock) => !now.has(lock))) lost.push(name)
  }

  expect(before.size).toBeGreaterThanOrEqual(2)
  expect(lost).toEqual([])
  // Guards the test: the same check detects that reading the file directly drops a lock.
  readFileSync(file)
  expect(locksOn(file)).toEqual([])
})
