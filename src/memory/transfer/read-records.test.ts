import { describe, expect, it } from 'vitest'
import { readRecords } from './belief-record.ts'

const ports = () => {
  const ids = Array.from({ length: 100 }, (_, index) => `made-${index}`)
  return { now: () => new Date('2026-03-01T12:00:00.000Z'), newId: () => ids.shift() as string }
}
const read = (text: string, scopes: readonly string[] = ['domain:code']) =>
  readRecords(ports(), { text, source: 'notes', user: 'ann', scopes })
const line = (name: string, fields: object = {}) => JSON.stringify({ name, content: `About ${name}`, ...fields })
const names = (text: string) => read(text).records.map(({ record }) => record.name)

describe('a file of beliefs', () => {
  it('is a JSON array, JSON Lines or one belief, with or without a byte order mark and blank lines', () => {
    expect(names(`[${line('a')},\n ${line('b')}]`)).toEqual(['a', 'b'])
    expect(names(`\ufeff  [${line('a')}]`)).toEqual(['a'])
    expect(names(`${line('a')}\n${line('b')}\n`)).toEqual(['a', 'b'])
    expect(names(`\ufeff\r\n${line('a')}\r\n\r\n${line('b')}`)).toEqual(['a', 'b'])
    expect(names(line('a'))).toEqual(['a'])
    expect(names(JSON.stringify(JSON.parse(line('a')), null, 2))).toEqual(['a'])
    expect(names('[]')).toEqual([])
  })

  it('keeps the place of every belief', () => {
    expect(read(`[${line('a')},${line('b')}]`).records.map(({ place }) => place)).toEqual([
      'notes, item 1',
      'notes, item 2',
    ])
    expect(read(`\n${line('a')}\n\n${line('b')}`).records.map(({ place }) => place)).toEqual([
      'notes, line 2',
      'notes, line 4',
    ])
  })

  it.each([
    ['a truncated last line', `${line('a')}\n${line('b').slice(0, -5)}`, 'notes, line 2: not JSON'],
    ['a truncated first line', `${line('a').slice(0, -5)}\n${line('b')}`, 'notes, line 1: not JSON'],
    ['an invalid line in the middle', `${line('a')}\nhello\n${line('b')}`, 'notes, line 2: not JSON'],
    ['an invalid first line', `hello\n${line('b')}`, 'notes, line 1: not JSON'],
    ['a line without a name', `${line('a')}\n{"content":"x"}`, 'notes, line 2: The field name is missing'],
    ['a line that is not an object', `${line('a')}\n7`, 'notes, line 2: A belief must be an object'],
    ['an item that is not an object', `[${line('a')}, null]`, 'notes, item 2: A belief must be an object'],
    ['a truncated array', `[${line('a')},`, 'notes: not JSON'],
    ['a truncated belief over several lines', '{\n "name": "a",\n "content": "b"\n', 'notes: not JSON'],
    ['text that is not JSON', 'hello', 'notes, line 1: not JSON'],
    ['no content', ' \n ', 'notes is empty'],
    ['a duplicate id', `${line('a', { id: 'x' })}\n${line('b', { _id: 'x' })}`, 'notes, line 2: the id "x" was used'],
  ])('with %s is refused, naming the place', (_, text, message) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining(message) }),
    )
  })

  it('may have the same id for two users', () => {
    expect(names(`${line('a', { id: 'x' })}\n${line('b', { id: 'x', user: 'bob' })}`)).toEqual(['a', 'b'])
  })

  it('warns of unknown fields, once for each place', () => {
    const { warnings } = read(`${line('a', { colour: 1, size: 2 })}\n${line('b')}\n${line('c', { shape: 3 })}`)

    expect(warnings).toEqual([
      'notes, line 1: ignored unknown fields colour, size.',
      'notes, line 3: ignored unknown field shape.',
    ])
  })

  it('without scopes gets the given ones, which must be valid', () => {
    const scoped = read(`${line('a')}\n${line('b', { scope: [] })}`, ['project:z', ' domain:a', 'project:z'])

    for (const { record } of scoped.records) expect(record.scopes).toEqual(['domain:a', 'project:z'])
    expect(() => read(line('a'), ['nonsense'])).toThrow(expect.objectContaining({ code: 'invalid' }))
    expect(() => read(line('a'), [])).toThrow('notes, line 1: the belief has no scope')
  })
})
