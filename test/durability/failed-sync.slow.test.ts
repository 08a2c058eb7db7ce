import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { count } from '../full-counts.ts'
import { complaintsOf, expectWritable, lostOrDuplicated, openStore, temporaryDirectory } from './durable-store.ts'
import { isTracerHere, tracing } from './tracer.ts'
import type { WriterOptions } from './writer.ts'
import { WriterProcess } from './writer-process.ts'

const calls = 60
/** A full run makes every call fail; other runs, every tenth. */
const step = calls / count(calls)
const workload = { prefix: 'w', count: 40, forgetsEvery: 7, maxRefusals: 4 }
const kept = workload.count - Math.floor(workload.count / workload.forgetsEvery)

/** Runs a writer in which the sync with this number fails, alone or with all later ones. */
async function failingAt(when: string, file: string, options: Pick<WriterOptions, 'fault'> = {}) {
  const record = `${file}.trace`
  const tracer = tracing('fsync,fdatasync,write', record, `fsync,fdatasync:error=EIO:when=${when}`)
  const writer = new WriterProcess({ file, ...workload, ...options }, tracer)
  await writer.ended
  return { writer, ...readRecord(readFileSync(record, 'utf8')) }
}

/** The failed syncs, and the beliefs that were acknowledged although the last sync of the log had failed. */
function readRecord(record: string) {
  const unsynced: string[] = []
  let failures = 0
  let hasSyncedLog = false
  for (const line of record.split('\n')) {
    const said = /\bwrite\(1<[^>]*>, "(ack|refused|report) ?([\w-]*)/u.exec(line)
    if (/\bf(?:data)?sync\(\d+<[^>]*-wal>/u.test(line)) hasSyncedLog = !line.includes('INJECTED')
    if (line.includes('INJECTED')) failures += 1
    if (said?.[1] === 'ack' && !hasSyncedLog) unsynced.push(said[2] as string)
    if (said) hasSyncedLog = false
  }
  return { failures, unsynced }
}

describe.skipIf(!isTracerHere)('a disk that fails to sync', () => {
  it.each([
    ['once', '', 1],
    ['from then on', '+', 4],
  ] as const)(
    '%s is reported, and no acknowledged write is lost',
    { timeout: 1_800_000 },
    async (name, more, first) => {
      const sums = { runs: 0, failures: 0, refusals: 0, notOpened: 0, acknowledged: 0 }
      for (let number = step === 1 ? 1 : first; number <= calls; number += step) {
        using directory = temporaryDirectory()
        const file = join(directory.path, 'credence.db')

        const { writer, failures, unsynced } = await failingAt(`${number}${more}`, file)

        const at = `call ${number}`
        const { acknowledged, refusals, report, complaints } = writer
        expect(failures, at).toBeGreaterThan(0)
        expect(unsynced, at).toEqual([])
        for (const { message } of refusals) expect(message, at).toContain('The disk failed')
        if (report === null) expect(complaints, at).toContain('MemoryError: The disk failed')
        else expect(report, at).toMatchObject({ acknowledged: acknowledged.length, readable: acknowledged.length })
        // The same process continues after one failure.
        if (name === 'once' && report !== null) expect(acknowledged.length, at).toBeGreaterThanOrEqual(kept - 1)
        expect(await lostOrDuplicated(file, acknowledged), at).toEqual([])
        await expectWritable(file)
        await scrubbed(file)
        expect(await complaintsOf(file), at).toEqual([])
        sums.runs += 1
        sums.failures += failures
        sums.refusals += refusals.length
        sums.notOpened += report === null ? 1 : 0
        sums.acknowledged += acknowledged.length
      }
      expect(sums.refusals).toBeGreaterThan(0)
      console.log(`Synchronisation failing ${name}: ${JSON.stringify(sums)}, 0 lost.`)
    },
  )

  it('is noticed by the same checks if a writer acknowledges too early', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const { writer, unsynced } = await failingAt('30+', file, { fault: 'early' })

    expect(unsynced).not.toEqual([])
    expect(await lostOrDuplicated(file, writer.acknowledged)).not.toEqual([])
  })
})

/** Finishes a forget that was recorded as pending because it could not empty the log. */
async function scrubbed(file: string): Promise<void> {
  const store = openStore(file)
  await store.scrub()
  await store.close()
}
