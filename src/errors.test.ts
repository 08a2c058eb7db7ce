import { describe, expect, it } from 'vitest'
import { invalid, MemoryError, notFound } from './errors.ts'

describe('MemoryError', () => {
  it('carries its code, hint and cause', () => {
    const cause = new Error('disk full')

    const error = new MemoryError('unavailable', 'The store could not be written.', { hint: 'Free some space.', cause })

    expect(error).toBeInstanceOf(Error)
    expect({ ...error }).toMatchObject({ code: 'unavailable', hint: 'Free some space.', name: 'MemoryError' })
    expect(error.cause).toBe(cause)
    expect(String(error)).toBe('MemoryError: The store could not be written.')
  })

  it('has no cause at all when none was given', () => {
    const error = new MemoryError('invalid', 'The limit is 0, but must be at least 1.')

    expect(error.hint).toBeUndefined()
    expect('cause' in error).toBe(false)
  })

  it('is made in short with a hint, or without', () => {
    expect(invalid('The limit is 0.', 'Give 1 or more.')).toMatchObject({ code: 'invalid', hint: 'Give 1 or more.' })
    expect(notFound('There is no belief "x".')).toMatchObject({ code: 'not_found', hint: undefined })
  })
})
