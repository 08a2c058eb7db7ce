import { describe, expect, it } from 'vitest'
import { filesNamedIn, filesToWrite } from './named-files.ts'

describe('files named in a prompt', () => {
  it('are paths with the ending of a text file', () => {
    expect(filesNamedIn('Read `memory/MEMORY.md`, ./notes.txt and not https://x.example/a.md or 3.5.')).toEqual([
      'memory/MEMORY.md',
      'notes.txt',
    ])
  })

  it.each([
    ['Write the answer to `answer.txt`.', ['answer.txt']],
    ['Save it to a file called `memory.md` in the workspace.', ['memory.md']],
    ['Read notes.md and tell me the date.', []],
  ])('are to be written: %s', (prompt, expected) => {
    expect(filesToWrite(prompt)).toEqual(expected)
  })
})
