import { resolve } from 'node:path'
import { mergeShards } from '../../../eval/run/merge-shards.ts'
import { newRunId } from '../../../eval/run/run.ts'
import { defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { rest, text } from '../../command/options.ts'
import { harmless } from '../../text/output.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const benchmarkMerge = defineCommand({
  args: { directories: rest('Eval stores, each with a shard of one run.') },
  options: {
    runId: { ...text('<id>', 'The name of the merged run.'), default: 'that of the shards, where they share one' },
    ...storeOptions,
  },
  description:
    'The result equals the run of a single machine. If a shard of `benchmark run --shard` is missing, duplicated, unfinished, edited or of another run, the command exits with 4 and writes nothing.',
  exitCodes: [exitCodes.nothingCompared],
  examples: {
    'credence benchmark merge shard-1 shard-2 shard-3 --store evals': 'Joins three shards into one run in evals.',
    'credence benchmark merge shards/* --store evals --run-id nightly --json': 'Names the run, and prints it as JSON.',
  },
  async run({ args: { directories }, options }, session) {
    if (directories.length === 0) throw new UsageError('No store is given.', 'Give the folders of the shards.')
    const { root } = evalStore(session, options)
    const places = directories.map((path) => resolve(session.workingDirectory(), path))
    const merged = await mergeShards(places, {
      root,
      runId: (runIds, first) =>
        options.runId ??
        (new Set(runIds).size === 1 && !places.includes(root)
          ? first.runId
          : newRunId(first.benchmarkId, first.system?.name ?? '', new Date())),
    })
    if (!merged.ok) {
      return {
        document: { ok: false, problems: merged.problems },
        text: (style) => merged.problems.map((problem) => style.red(harmless(problem))).join('\n'),
        notes: ['Nothing was merged. Run the shards named above again, and give the store of each shard once.'],
        exitCode: exitCodes.nothingCompared,
      }
    }
    const { runId, passedCases, totalCases } = merged.run
    return {
      document: { ok: true, run: merged.run, shards: merged.shards },
      text: () => harmless(`${runId}: ${merged.shards} shards, ${passedCases}/${totalCases} passed`),
    }
  },
})
