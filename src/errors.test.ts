import { describe, expect, it } from 'vitest'
import { expectedError, invalid, MemoryError, notFound } from './errors.ts'

describe('MemoryError', () => {
  it('carries its code, hint and cause', () => {
    const cause = new Error('disk full')

    const error = new MemoryError('unavailable', 'The store could not be written.', { hint: 'Free some space.', cause })

    expect(error).toBeInstanceOf(Error)
    expect({ ...error }).toMatchObject({ code: 'unavailable', hint: 'Free some space.', name: 'MemoryError' })
    expect(error.cause).toBe(cause)
    expect(String(error)).toBe('MemoryError: The store could not be written.')
  })

  it('has no property for a missing cause', () => {
    const error = new MemoryError('invalid', 'The limit is 0, but must be at least 1.')

    expect(error.hint).toBeUndefined()
    expect('cause' in error).toBe(false)
  })

  it('can be created by a helper, with or without a hint', () => {
    expect(invalid('The limit is 0.', 'Give 1 or more.')).toMatchObject({ code: 'invalid', hint: 'Give 1 or more.' })
    expect(notFound('There is no belief "x".')).toMatchObject({ code: 'not_found', hint: undefined })
  })
})

describe('an error of the system', () => {
  const systemError = (code: string, syscall: string, path?: string): Error =>
    Object.assign(new Error(`${code}: ${syscall}`), { code, syscall, ...(path === undefined ? {} : { path }) })

  it.each([
    ['EACCES', 'open', '/m/state/x', '/m/state/x cannot be used: you have no permission (EACCES).'],
    ['EROFS', 'unlink', '/m/x', '/m/x cannot be used: its disk is read-only (EROFS).'],
    ['EMFILE', 'scandir', '/m', '/m cannot be used: this program has too many files open (EMFILE).'],
    ['EEXIST', 'mkdir', '/m/state', '/m/state cannot be used: it cannot be created (EEXIST).'],
    // No path, because Node's errors about open files have none.
    ['ENOSPC', 'write', undefined, 'A file cannot be used: the disk is full (ENOSPC).'],
    ['EIO', 'fsync', undefined, 'A file cannot be used: the disk failed (EIO).'],
  ])('with the code %s at %s becomes an error about a refused file, with advice', (code, syscall, path, message) => {
    const error = systemError(code, syscall, path)

    expect(expectedError(error)).toMatchObject({
      name: 'MemoryError',
      code: 'unavailable',
      message,
      hint: expect.any(String),
      cause: error,
    })
  })

  it('without a refused file is a bug', () => {
    expect(expectedError(systemError('ENOENT', 'open', '/m/x'))).toBeNull()
    expect(expectedError(systemError('ECONNREFUSED', 'connect'))).toBeNull()
    expect(expectedError(systemError('EIO', 'read'))).toBeNull()
    expect(expectedError(new TypeError('x is undefined'))).toBeNull()
  })
})
