import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CommandEntry, commands, commandTable, removedCommands } from '../command-table.ts'
import { findCommand, readRequest, sortTexts } from './arguments.ts'
import { UsageError } from './command.ts'
import { flag, one, optional, rest, text, texts, words } from './options.ts'

const entry = (name: string): CommandEntry => ({
  name,
  group: 'All',
  summary: `Does ${name}.`,
  load: () => Promise.reject(new Error('not loaded in these tests')),
})
const table = ['recall', 'remember', 'eval retrieval', 'eval session'].map(entry)
const specs = {
  args: { belief: one('A belief.'), statement: words('A statement.') },
  options: { name: text('<name>', 'A name.'), alias: texts('<alias>', 'An alias.'), nearMisses: flag('A flag.') },
}

function failureOf(act: () => unknown): { message: string; hint: string | undefined } {
  try {
    act()
  } catch (error) {
    if (error instanceof UsageError) return { message: error.message, hint: error.hint }
    throw error
  }
  throw new Error('Nothing was thrown.')
}

describe('commands', () => {
  it('number at most 45 without those of eval, so that a person can read the list', () => {
    expect(commands.filter(({ name }) => name !== 'eval').length).toBeLessThanOrEqual(45)
  })
})

describe('removedCommands', () => {
  it.each(Object.entries(removedCommands))('names the command to use instead of `%s`', (name, hint) => {
    const failure = failureOf(() => readRequest([...name.split(' '), 'x'], commandTable))
    const named = [...hint.matchAll(/`credence ([a-z]+(?: [a-z]+)?)/gu)].map(([, command = '']) => command)

    expect(failure).toEqual({ message: `The command "${name}" was removed.`, hint })
    expect(named.length).toBeGreaterThan(0)
    for (const command of named)
      expect(findCommand(command, commandTable) ?? findCommand(command.split(' ')[0] ?? '', commandTable)).toBeDefined()
  })
})

describe('readRequest', () => {
  it('finds the command at any position among the options', () => {
    const request = readRequest(
      ['--json', '--dir', 'recall', '--store', 'x', 'recall', 'hello', '--scope', 'a:b'],
      table,
    )

    expect(request).toMatchObject({
      kind: 'command',
      entry: { name: 'recall' },
      argv: ['--json', '--dir', 'recall', '--store', 'x', 'hello', '--scope', 'a:b'],
    })
  })

  it('reads two words as a command of a group', () => {
    const request = readRequest(['eval', 'session', '--cases', 'eval'], table)

    expect(request).toMatchObject({ kind: 'command', entry: { name: 'eval session' }, argv: ['--cases', 'eval'] })
  })

  it('reads one word as the command with the name of a group, unless the next word names a command of the group', () => {
    const both = ['import', 'import chats'].map(entry)

    expect(readRequest(['import', 'beliefs.jsonl'], both)).toMatchObject({
      entry: { name: 'import' },
      argv: ['beliefs.jsonl'],
    })
    expect(readRequest(['import', 'chats', 'all.jsonl'], both)).toMatchObject({
      entry: { name: 'import chats' },
      argv: ['all.jsonl'],
    })
    expect(readRequest(['import', 'x', '--help'], both)).toEqual({ kind: 'help', topic: ['import'] })
  })

  it('asks for help about the program, a group or a command', () => {
    expect(readRequest(['--help'], table)).toEqual({ kind: 'help', topic: [] })
    expect(readRequest(['eval', '-h'], table)).toEqual({ kind: 'help', topic: ['eval'] })
    expect(readRequest(['eval', '-h', '--store', 'x'], table)).toEqual({ kind: 'help', topic: ['eval'] })
    expect(readRequest(['recall', 'hello', '--help'], table)).toEqual({ kind: 'help', topic: ['recall'] })
    expect(readRequest(['help', 'eval', 'session'], table)).toEqual({ kind: 'help', topic: ['eval', 'session'] })
    expect(readRequest([], table)).toEqual({ kind: 'nothing', topic: [] })
    expect(readRequest(['eval'], table)).toEqual({ kind: 'nothing', topic: ['eval'] })
  })

  it('does not treat words after -- as options', () => {
    expect(readRequest(['recall', '--', '--help', '--version'], table)).toMatchObject({ kind: 'command' })
  })

  it('suggests the nearest command for an unknown one', () => {
    expect(failureOf(() => readRequest(['recal'], table))).toEqual({
      message: 'There is no command "recal".',
      hint: 'Did you mean `credence recall`?',
    })
    expect(failureOf(() => readRequest(['eval', 'retreival'], table)).hint).toBe(
      'Did you mean `credence eval retrieval`?',
    )
    expect(failureOf(() => readRequest(['teleport'], table)).hint).toBe('See them all with `credence --help`.')
  })
})

describe('sortTexts', () => {
  it('sorts words by arguments and options', () => {
    const argv = ['b-1', '--alias', 'x', 'it', '--name=a=b', 'is', '--near-misses', '--alias', 'y', '--', '--so', '-']

    expect(sortTexts(argv, specs)).toEqual({
      args: { belief: ['b-1'], statement: ['it', 'is', '--so', '-'] },
      options: { alias: ['x', 'y'], name: ['a=b'], nearMisses: [''] },
    })
  })

  it('leaves optional arguments empty and gives the rest to the last', () => {
    const optionals = { args: { first: optional('First.'), others: rest('Others.') }, options: {} }

    expect(sortTexts([], optionals).args).toEqual({ first: [], others: [] })
    expect(sortTexts(['a', 'b', 'c'], optionals).args).toEqual({ first: ['a'], others: ['b', 'c'] })
  })

  it.each([
    [['b-1', 'x', '--nam', 'y'], 'There is no option --nam.', 'Did you mean --name?'],
    [['b-1', 'x', '-x'], 'There is no option -x.', 'A text that begins with a dash goes after --.'],
    [['b-1', '--of course'], 'There is no option --of course.', 'A text that begins with a dash goes after --.'],
    [['b-1', 'x', '--zebra'], 'There is no option --zebra.', undefined],
    [['b-1', 'x', '--name'], '--name needs a value.', 'Write --name <name>.'],
    [
      ['b-1', 'x', '--name', '--alias'],
      '--name needs a value, but "--alias" follows.',
      'A value that begins with a dash is written --name=--alias.',
    ],
    [['b-1', 'x', '--name', 'a', '--name', 'b'], '--name is given twice.', 'Give it once.'],
    [['b-1', 'x', '--json=yes'], '--json takes no value, but got "yes".', undefined],
    [['b-1'], '<statement> is missing.', undefined],
    [[], '<belief> is missing.', undefined],
  ])('refuses %j', (argv, message, hint) => {
    expect(failureOf(() => sortTexts(argv, specs))).toEqual({ message, hint })
  })

  it('refuses one argument too many', () => {
    const { message } = failureOf(() => sortTexts(['a', 'b'], { args: { belief: one('A belief.') }, options: {} }))

    expect(message).toBe('Unexpected argument "b".')
  })

  it('sorts every word or reports an error, for any input', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('--', '-', '--name', '--alias=', '--json', '-x', '--no-json'))
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (argv) => {
        try {
          const { args, options } = sortTexts(argv, specs)
          const kept = [...Object.values(args).flat(), ...Object.values(options).flat()]
          expect(kept.length).toBeLessThanOrEqual(argv.length)
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError)
        }
      }),
    )
  })
})
