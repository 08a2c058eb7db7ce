import { appendFileSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { caseExample } from '../../../test/harness/example-documents.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { openCaseLog, readCaseLog } from './case-log.ts'
import { caseLogPath } from './documents.ts'
import type { CaseRecord } from './schemas/run.ts'

const record = (caseId: string, repeat = 0): CaseRecord => ({
  ...caseExample,
  schemaVersion: 1,
  verdict: 'pass',
  caseId,
  repeat,
})

async function write(root: string, ...records: readonly CaseRecord[]): Promise<void> {
  const log = await openCaseLog(root, 'run-1')
  for (const one of records) log.append(one)
  await log.close()
}

describe('the case records of a run', () => {
  it('are read in the order they were written, across several sessions', async () => {
    using store = temporaryDirectory()

    await write(store.path, record('a'), record('b'))
    await write(store.path, record('a', 1))

    const { records, problems } = await readCaseLog(store.path, 'run-1')
    expect(records).toEqual([record('a'), record('b'), record('a', 1)])
    expect(problems).toEqual([])
  })

  it('are an empty list if the run stored none', async () => {
    using store = temporaryDirectory()

    expect(await readCaseLog(store.path, 'run-1')).toEqual({ records: [], problems: [] })
  })

  it('lose only the record that a killed process was writing', async () => {
    using store = temporaryDirectory()
    await write(store.path, record('a'))
    appendFileSync(caseLogPath(store.path, 'run-1'), '{"schemaVersion":1,"caseId":"b"')

    expect((await readCaseLog(store.path, 'run-1')).problems).toMatchObject([
      { file: 'runs/run-1/cases.jsonl:2', field: '(line)' },
    ])
    await write(store.path, record('c'))

    const { records, problems } = await readCaseLog(store.path, 'run-1')
    expect(records.map(({ caseId }) => caseId)).toEqual(['a', 'c'])
    expect(problems).toEqual([])
  })

  it('name the invalid line', async () => {
    using store = temporaryDirectory()
    await write(store.path, record('a'))
    appendFileSync(caseLogPath(store.path, 'run-1'), `{}\n${JSON.stringify(record('a'))}\n`)

    expect((await readCaseLog(store.path, 'run-1')).problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ file: 'runs/run-1/cases.jsonl:2', field: 'caseId' }),
        expect.objectContaining({ file: 'runs/run-1/cases.jsonl:3', message: expect.stringContaining('second time') }),
      ]),
    )
  })

  it('are checked before they are written', async () => {
    using store = temporaryDirectory()
    const log = await openCaseLog(store.path, 'run-1')

    expect(() => log.append({ ...record('a'), repeat: -1 })).toThrow(expect.objectContaining({ code: 'invalid' }))
    await log.close()

    expect(readFileSync(caseLogPath(store.path, 'run-1'), 'utf8')).toBe('')
  })
})
