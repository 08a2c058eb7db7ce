import { describe, expect, it } from 'vitest'
import { choice, flag, list, optional, share, text, whole, withDefault } from '../../operations/field.ts'
import { UsageError } from './command.ts'
import { fieldOption, fieldOptions } from './options.ts'

const fields = {
  label: optional(text(100), 'Its label.'),
  role: optional(choice(['reader', 'writer']), 'Its role.'),
  status: optional(list(choice(['open', 'closed'])), 'Only of this status.'),
  limit: withDefault(whole({ min: 1, max: 20 }), 10, 'How many to show.'),
  certainty: optional(share('How certain it is.')),
  pinned: optional(flag('Only pinned ones.')),
}
const options = fieldOptions(fields, 'label', 'role', 'status', 'limit', 'certainty', 'pinned')

describe('fieldOption', () => {
  it('has the help, choices and default of its field', () => {
    const described = Object.entries(options).map(([name, { help, value, default: otherwise, isRepeatable }]) => {
      return [name, value, help, otherwise, isRepeatable]
    })

    expect(described).toEqual([
      ['label', '<text>', 'Its label.', undefined, false],
      ['role', '<role>', 'Its role. One of reader, writer.', undefined, false],
      ['status', '<status>', 'Only of this status. One of open, closed. May be given several times.', undefined, true],
      ['limit', '<number>', 'How many to show.', '10', false],
      ['certainty', '<number>', 'How certain it is.', undefined, false],
      ['pinned', null, 'Only pinned ones.', undefined, false],
    ])
    expect(fieldOption(fields.label, '<name>').value).toBe('<name>')
  })

  it('parses a value by the type of its field, and uses the default without a value', () => {
    expect(options.label.read(['laptop'])).toBe('laptop')
    expect(options.role.read([])).toBeUndefined()
    expect(options.status.read(['open', 'closed'])).toEqual(['open', 'closed'])
    expect([options.limit.read([]), options.limit.read(['3'])]).toEqual([10, 3])
    expect(options.certainty.read(['0.5'])).toBe(0.5)
    expect([options.pinned.read([]), options.pinned.read([''])]).toEqual([false, true])
  })

  it.each([
    [() => options.role.read(['owner']), '"owner" is not one of reader, writer.'],
    [() => options.status.read(['open', 'ajar']), '"ajar" is not one of open, closed.'],
    [() => options.limit.read(['21']), '"21" is not a whole number from 1 to 20.'],
    [() => options.certainty.read(['2']), '"2" is not a number from 0 to 1.'],
  ])('refuses a value that the field does not allow', (read, message) => {
    expect(read).toThrow(new UsageError(message))
  })
})
