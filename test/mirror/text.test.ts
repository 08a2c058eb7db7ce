import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MirrorDocument } from '../../src/memory/mirror/write/document.ts'
import { openMemory } from '../../src/open-memory.ts'
import { sample } from '../../src/store/sample-beliefs.contract.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { nothingTaken, personalMemory } from './mirrored-memory.ts'

const foreign =
  '# My notes\r\n\r\n- one\t\r\n* two  \r\n\r\n## project:x\r\n- not ours\r\n\r\n```\r\n- code\r\n```\r\nCafe\u0301, no line end'

describe("a person's own file", () => {
  it('is adopted unchanged: its bytes remain, and beliefs are added below them', async () => {
    using directory = temporaryDirectory()
    const dir = join(directory.path, 'memory')
    mkdirSync(dir)
    const file = join(dir, 'MEMORY.md')
    writeFileSync(file, `\ufeff${foreign}`)
    chmodSync(file, 0o640)
    const memory = openMemory({ dir, mirror: true })

    await memory.remember({ name: 'a', content: 'first\nsecond' })
    await memory.remember({ name: 'b', content: 'what b is', scopes: ['project:x'] })

    const text = readFileSync(file, 'utf8')
    expect(text.startsWith(`\ufeff${foreign}\r\n\r\n<!-- credence:mirror`)).toBe(true)
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/u)
    expect(text).toMatch(/- \*\*a\*\*: first <!-- credence:b-\w+ -->\r\n {2}second\r\n/u)
    expect((await memory.list()).total).toBe(2)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    await memory.close()
  })

  it('is not imported or changed without consent', async () => {
    using directory = temporaryDirectory()
    const dir = join(directory.path, 'memory')
    mkdirSync(dir)
    writeFileSync(join(dir, 'MEMORY.md'), foreign)
    const memory = openMemory({ dir })

    await memory.remember({ name: 'a', content: 'b' })

    expect(readFileSync(join(dir, 'MEMORY.md'), 'utf8')).toBe(foreign)
    await memory.close()
  })
})

describe('text between the items', () => {
  it('stays byte for byte in its place, through changes on both sides', async () => {
    await using place = personalMemory()
    const { memory } = place
    for (const name of ['a', 'b', 'c']) await memory.remember({ name, content: `what ${name} is` })
    const notes = [
      'Above.\t \n\n> quoted\n',
      '\nBetween **two** items.  \n',
      '### My own heading\n\n- mine, not ours\n\n    code\n',
      '| a | b |\n|---|---|\n',
    ]
    place.edit((text) => {
      const lines = text.split('\n')
      const at = lines.findIndex((line) => line.includes('**b**'))
      lines.splice(at + 1, 0, notes[1] as string)
      return `${notes[0]}${lines.join('\n').replace('\n## New', `\n${notes[2]}\n## New`)}${notes[3]}no line end`
    })

    await place.sync()
    await memory.correct('b', { content: 'what b became' })
    await memory.forget('a')
    place.edit((text) => text.replace('what c is', 'what c became'))
    await place.sync()
    await memory.remember({ name: 'd', content: 'what d is', scopes: ['domain:z'] })

    const text = place.text()
    for (const note of notes) expect(text).toContain(note)
    expect(text.startsWith(notes[0] as string)).toBe(true)
    expect(text.endsWith(`${notes[3]}no line end`)).toBe(true)
    expect(await place.beliefs()).toEqual({ b: 'what b became', c: 'what c became', d: 'what d is' })
  })

  it('is not rewritten if an editor stripped spaces, changed line ends or normalised letters', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'a', content: 'Caf\u00e9  \n\n  indented  \nend', why: 'because' })
    place.edit((text) => `\ufeff${text.normalize('NFD').replace(/ +$/gmu, '').replaceAll('\n', '\r\n')}`)
    const edited = place.text()

    const { taken, written } = await place.sync()

    expect({ taken, written }).toEqual({ taken: nothingTaken, written: [] })
    expect(place.text()).toBe(edited)
    expect((await place.memory.get('a')).content).toBe('Caf\u00e9  \n\n  indented  \nend')
  })

  it('survives all changes of the items around it', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '  ',
        '# Title',
        '## Own',
        '## project:ledger',
        '### Facts',
        '### Own',
        '> q',
        '---',
        '```',
        '    x',
        'plain',
        '\t- deep',
        '<!-- x',
        '-->',
      ),
      fc.string({ maxLength: 12 }).map((text) => text.replace(/[\r\n]/gu, '')),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 15 }), fc.nat(4), fc.constantFrom('\n', '\r\n'), (lines, count, eol) => {
        // Lines in a managed section that look like items belong to the mirror, so only other text is generated.
        const own = lines.filter((text) => !/^ ?(?:[-*+]|\d+[.)])[ \t]/u.test(text) && !/^ {2,}|^\t/u.test(text))
        const text = own.join(eol)
        const document = new MirrorDocument(text)
        const beliefs = Array.from({ length: count }, (_, index) =>
          sample({ id: `b-${index}`, scopes: index % 2 ? ['domain:z'] : ['project:ledger'] }),
        )

        document.insert(beliefs)
        document.ensureInbox()
        document.setVersion(3)
        for (const segment of document.items().slice(0, 1))
          document.replace(segment, sample({ id: 'b-new', scopes: ['domain:z'], type: 'decision' }))
        const shown = document.items().map(({ item }) => item.id)
        for (const segment of document.items()) document.remove(segment)

        const kept = document.render().split(/\r\n|\n/u)
        const isOurs = /^(?:#{2,3} |<!-- )/u
        expect(shown).toHaveLength(count)
        expect(
          subsequence(
            own.filter((one) => one.trim() !== '' && !isOurs.test(one)),
            kept,
          ),
        ).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

/** Whether all of the lines occur, in order. */
function subsequence(lines: readonly string[], among: readonly string[]): boolean {
  let at = 0
  for (const line of among)
    if (at < lines.length && line.replace(/^\ufeff/u, '') === lines[at]?.replace(/^\ufeff/u, '')) at += 1
  return at === lines.length
}
