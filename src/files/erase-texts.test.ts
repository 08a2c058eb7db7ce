import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { Eraser, eraseInFile } from './erase-texts.ts'

const forgotten = {
  beliefIds: ['b-7k2mq3xyzabc'],
  said: ['The door opens with 48213.'],
  names: ['door', 'Anna’s code'],
}

describe('erasing forgotten texts', () => {
  it.each([
    ['the DOOR opens with 48213, he said', '[forgotten], he said'],
    ['Write "The door opens with 48213."', 'Write "[forgotten]."'],
    ['The door opens with 482130', 'The door opens with 482130'],
    ['Ask for Anna’s code.', 'Ask for [forgotten].'],
    ['A door is a door.', 'A door is a door.'],
    ['what-the-door-opens-with-48213-9c1d', 'what-forgotten-9c1d'],
  ])('changes %j to %j', (text, left) => {
    expect(new Eraser(forgotten).eraseValue(text)).toBe(left)
  })

  it('counts a one-word name only in a record with the id of the belief', () => {
    const eraser = new Eraser(forgotten)

    expect(eraser.eraseValue({ query: 'Which door?', expect: ['case-1.b-7k2mq3xyzabc'] })).toEqual({
      query: 'Which [forgotten]?',
      expect: ['case-1.b-7k2mq3xyzabc'],
    })
    expect(eraser.eraseValue({ query: 'Which door?' })).toEqual({ query: 'Which door?' })
  })

  it.each([
    ['records.jsonl', '{"a":"The door opens with 48213."}\n{"b":1}\n', '{"a":"[forgotten]."}\n{"b":1}\n'],
    ['one.jsonl', '{"a":"The door opens with 48213."}\n', '{"a":"[forgotten]."}\n'],
    ['cut.jsonl', '{"b":1}\n{"a":"The door opens with 48213', '{"b":1}\n{"a":"[forgotten]'],
    ['list.json', '[\n  "x",\n  "the door opens with 48213"\n]\n', '[\n  "x",\n  "[forgotten]"\n]\n'],
    ['notes.md', 'One\nThe door opens with 48213.\n', 'One\n[forgotten].\n'],
  ])('keeps %s valid in its format', async (name, text, left) => {
    using directory = temporaryDirectory()
    const file = join(directory.path, name)
    writeFileSync(file, text)

    expect(await eraseInFile(file, new Eraser(forgotten))).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(left)
    expect(await eraseInFile(file, new Eraser(forgotten))).toBe(false)
  })

  it.each([
    ['a quote', 'She said "swordfish" at the door.'],
    ['a line break', 'The door code:\n48213, then the bell.'],
    ['a backslash', 'The share is \\\\attic\\papers.'],
    ['a letter that JSON may escape', 'Zoë keeps the spare key.'],
  ])('finds a text with %s, however it is escaped and nested', async (_what, text) => {
    using directory = temporaryDirectory()
    const eraser = new Eraser({ beliefIds: [], said: [text], names: [] })
    const escaped = JSON.stringify(text).replaceAll('ë', '\\u00eb')
    const files = {
      'run.json': `{"cases":[{"answer":{"lines":["A",${escaped}]}}]}`,
      'cases.jsonl': `{"a":1}\n{"context":${JSON.stringify(`- ${text}\n- B`)}}\n`,
      'key.json': `{${escaped}:1}`,
    }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory.path, name), content)

    for (const name of Object.keys(files)) {
      const file = join(directory.path, name)
      expect(await eraseInFile(file, eraser), name).toBe(true)
      const left = readFileSync(file, 'utf8')
      expect(left).toContain('[forgotten]')
      for (const word of text.match(/\w{5,}/gu) ?? []) expect(left, name).not.toContain(word)
    }
  })

  it('does not change a binary file', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'store.db')
    const bytes = Buffer.concat([Buffer.from('The door opens with 48213.'), Buffer.from([0, 255])])
    writeFileSync(file, bytes)

    expect(await eraseInFile(file, new Eraser(forgotten))).toBe(false)
    expect(readFileSync(file)).toEqual(bytes)
  })

  it('removes any text from any document, keeps its format, and leaves other documents unchanged', () => {
    const text = fc.string({ minLength: 4, maxLength: 30, unit: 'binary' }).filter((one) => /\p{L}{4}/u.test(one))
    const isErased = (value: unknown): string[] =>
      typeof value === 'string' ? [value] : Object.values((value ?? {}) as object).flatMap(isErased)
    fc.assert(
      fc.property(text, fc.jsonValue(), fc.string(), (secret, other, before) => {
        const eraser = new Eraser({ beliefIds: [], said: [secret], names: [] })
        const core = secret.trim().replace(/[\s.,;:!?]+$/u, '')

        const erased = eraser.eraseValue({ other, held: [`${before} (${secret})`] }) as { held: string[] }

        expect(JSON.parse(JSON.stringify(erased))).toHaveProperty('held')
        expect(isErased(erased.held).some((one) => one.includes(` (${core}`))).toBe(false)
        if (!JSON.stringify(other).toLowerCase().includes(core.slice(0, 4).toLowerCase()))
          expect(eraser.eraseValue(other)).toEqual(other)
      }),
    )
  })
})
