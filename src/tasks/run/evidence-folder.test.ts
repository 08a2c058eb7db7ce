import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sampleTask } from '../../../test/tasks/sample-task.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { noneAgent } from '../agent.ts'
import { readEvidence, readKept } from './evidence-folder.ts'
import { executeTask } from './execute-task.ts'

async function kept(folder: string) {
  return executeTask({
    task: sampleTask(),
    agent: noneAgent,
    folder,
    repeat: 1,
    seed: 1,
    control: 'none',
    signal: new AbortController().signal,
    now: () => new Date('2026-01-02T03:04:05Z'),
  })
}

describe('reading evidence', () => {
  it.each([
    ['that is truncated', (text: string) => text.slice(0, -20), 'is not JSON'],
    ['of a later version', (text: string) => text.replace('"schemaVersion": 2', '"schemaVersion": 3'), 'schemaVersion'],
    ['with another outcome', (text: string) => text.replace('"outcome": "done"', '"outcome": "great"'), 'outcome'],
    ['with an extra field', (text: string) => text.replace('{', '{ "extra": 1,'), 'extra'],
    [
      'that refers to a file outside its folder',
      (text: string) => text.replace('"path": "transcript.jsonl"', '"path": "../../etc/passwd"'),
      'must be a path inside the evidence folder',
    ],
    ['that is empty', () => '', 'is empty'],
  ])('refuses evidence %s', async (_, spoil, message) => {
    using directory = temporaryDirectory()
    await kept(directory.path)
    const file = join(directory.path, 'evidence.json')
    writeFileSync(file, spoil(readFileSync(file, 'utf8')))

    await expect(readEvidence(directory.path)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(message),
    })
  })

  it('reports a folder without evidence', async () => {
    using directory = temporaryDirectory()

    await expect(readEvidence(directory.path)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('does not return a file that is missing or changed', async () => {
    using directory = temporaryDirectory()
    const { transcript } = await kept(directory.path)
    if (transcript === null) throw new Error('There is a transcript.')

    writeFileSync(join(directory.path, transcript.path), 'another')
    await expect(readKept(directory.path, transcript)).rejects.toThrow('was changed since')
    await expect(readKept(directory.path, { ...transcript, path: 'gone' })).rejects.toThrow('is missing')
  })

  it.each([null, 'my own notes', 'null', '{}'])(
    'does not write to a folder whose evidence.json is %s',
    async (text) => {
      using directory = temporaryDirectory()
      mkdirSync(join(directory.path, 'workspace'))
      writeFileSync(join(directory.path, 'workspace', 'mine.txt'), 'mine')
      if (text !== null) writeFileSync(join(directory.path, 'evidence.json'), text)

      await expect(kept(directory.path)).rejects.toMatchObject({ code: 'conflict' })
      expect(readFileSync(join(directory.path, 'workspace', 'mine.txt'), 'utf8')).toBe('mine')
    },
  )
})
