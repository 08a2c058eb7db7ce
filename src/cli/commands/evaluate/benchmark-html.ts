import { resolve } from 'node:path'
import { htmlReport } from '../../../eval/report/html-report.ts'
import { writeFiles } from '../../../files/write-files.ts'
import { defineCommand } from '../../command/command.ts'
import { rest, text } from '../../command/options.ts'
import { snapshotIdOption } from './benchmark-snapshot.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

const defaultOut = 'benchmark-report.html'

export const benchmarkHtml = defineCommand({
  args: { runs: rest('Runs to show; without any, the latest completed run of every benchmark and system.') },
  options: {
    out: { ...text('<file>', 'The file to write.'), default: defaultOut },
    snapshotId: { ...snapshotIdOption, help: 'Compare with this baseline.', default: 'the run before' },
    ...storeOptions,
  },
  description:
    'The page contains verdicts, trends with intervals, every case with its explanation and what changed, latencies, provenance.',
  examples: {
    'credence benchmark html': `Writes ${defaultOut} about the latest runs.`,
    'credence benchmark html run-2 --snapshot-id main --out report.html': 'Compares a run with a baseline.',
  },
  async run({ args: { runs }, options }, session) {
    const { root } = evalStore(session, options)
    const file = resolve(session.workingDirectory(), options.out ?? defaultOut)
    const { snapshotId } = options
    const { page, runIds } = await htmlReport(root, { runIds: runs, snapshotId, now: new Date() })
    writeFiles([{ file, text: page }])
    return {
      document: { ok: true, file, runs: runIds, bytes: Buffer.byteLength(page) },
      text: () => file,
    }
  },
})
