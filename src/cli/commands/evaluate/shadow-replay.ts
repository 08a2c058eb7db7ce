import { MemoryError } from '../../../errors.ts'
import { queryLogPath, readQueries } from '../../../eval/shadow/query-log.ts'
import { type ReplayReport, replayQueries } from '../../../eval/shadow/replay.ts'
import { defaultEmbedder } from '../../../eval/system/embedders/open-embedder.ts'
import { defineCommand, wholeNumber } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import { exitCodes } from '../../exit-codes.ts'
import { columns } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'
import { backendOption, embedderOption } from './eval-options.ts'

export const shadowReplay = defineCommand({
  args: {},
  options: {
    candidateSystem: { ...backendOption, help: backendOption.help.replace('What answers.', 'What answers instead.') },
    limit: wholeNumber('The latest queries of the log only.', { min: 1, default: 1_000 }),
    embedder: embedderOption,
    ...placeOptions,
    store: storeOptions.store,
  },
  description:
    'Shadow records hold no text, so the queries come from the log that `credence recall --log-queries` keeps. Answers of bm25 and of the candidate are compared; nothing of the memory is changed.',
  exitCodes: [exitCodes.nothingCompared],
  examples: [
    {
      command: 'credence shadow replay --candidate-system hybrid',
      effect: 'Shows what would be recalled differently.',
    },
    {
      command: 'credence shadow replay --candidate-system exact --limit 100 --json',
      effect: 'Compares the last 100 queries.',
    },
  ],
  async run({ options }, session) {
    const name = options.candidateSystem
    if (name === undefined) throw new UsageError('--candidate-system is missing.', 'Name what shall answer instead.')
    if (name === 'oracle') throw new UsageError('The oracle answers cases, and a log has none.')
    const { root } = evalStore(session, options)
    const log = await readQueries(queryLogPath(root))
    if (log === null || log.queries.length === 0) {
      throw new MemoryError('not_found', `There is no query log at ${queryLogPath(root)}.`, {
        hint: 'Shadow records hold no text. Keep queries with `credence recall --log-queries`, then replay them.',
      })
    }
    const evaluation = await session.evaluation()
    const { packsDirectory, progress } = evaluation
    const backends = evaluation.backends({ packsDirectory, embedder: options.embedder ?? defaultEmbedder })
    const base = await backends.open('bm25')
    const candidate = await backends.open(name)
    const memory = await session.reading(options)
    const beliefs = []
    for await (const { version: _, ...belief } of memory.export()) beliefs.push(belief)
    try {
      const queries = log.queries.slice(-(options.limit ?? 1_000))
      const report = await replayQueries({
        beliefs,
        queries,
        base,
        candidate,
        onProgress: (done, total) => progress.show('replay', done, total),
      })
      return {
        document: { baseSystem: base.name, candidateSystem: candidate.name, unreadable: log.unreadable, ...report },
        text: () => replayText(report, base.name, candidate.name),
        exitCode: report.queries === report.errors ? exitCodes.nothingCompared : exitCodes.fine,
      }
    } finally {
      progress.clear()
      await base.close()
      await candidate.close()
    }
  },
})

function replayText(report: ReplayReport, base: string, candidate: string): string {
  const number = (value: number | null, digits = 3): string => (value === null ? 'none' : value.toFixed(digits))
  const pair = ({ base: one, candidate: other }: ReplayReport['p50Ms'], digits: number): string =>
    `${number(one, digits)} → ${number(other, digits)}`
  const rows = [
    [
      'queries',
      `${report.queries}, ${report.errors} errors, ${report.identical} answered alike by ${base} and ${candidate}`,
    ],
    ['overlap', `${number(report.meanOverlap)}, by rank ${number(report.meanRankOverlap)}`],
    ['places moved', number(report.meanChurn)],
    ['beliefs', pair(report.beliefs, 1)],
    ['characters', pair(report.contextChars, 0)],
    ['half below, ms', pair(report.p50Ms, 2)],
    ['95 % below, ms', pair(report.p95Ms, 2)],
    ...(report.mostChanged.length === 0
      ? []
      : [
          [
            'least alike',
            report.mostChanged
              .slice(0, 5)
              .map(({ query, rankOverlap }) => `query ${query} (${number(rankOverlap)})`)
              .join(', '),
          ],
        ]),
  ]
  return columns(rows, { indent: 0 })
}
