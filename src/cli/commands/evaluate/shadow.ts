import { MemoryError } from '../../../errors.ts'
import { queryLogPath, type ReplayReport, readQueries, replayQueries } from '../../../eval/shadow/replay.ts'
import { type ShadowSummary, summariseShadows } from '../../../eval/shadow/shadow-summary.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { memoryOptions, wholeNumber } from '../../command/options.ts'
import { table } from '../../text/output.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'
import { backendOption, embedderOption } from './eval-options.ts'

export const shadowStatus = defineCommand({
  args: {},
  options: storeOptions,
  description: 'Records are kept while the settings evalHarnessEnabled and evalShadowModeEnabled are on.',
  examples: {
    'credence shadow status': 'Shows how many recalls were recorded, and their sizes and times.',
    'credence shadow status --json': 'Prints the same as JSON.',
  },
  async run({ options }, session) {
    const { root, settings } = evalStore(session, options)
    const isRecording = settings.evalHarnessEnabled && settings.evalShadowModeEnabled
    const summary = await summariseShadows(root)
    return {
      document: { recording: isRecording, rootDir: root, ...summary },
      text: () => summaryText(summary, isRecording),
    }
  },
})

function summaryText(summary: ShadowSummary, isRecording: boolean): string {
  const { records, invalid, injectedShare, byDay, bySource } = summary
  const days = Object.keys(byDay)
  const sources = Object.entries(bySource).map(([source, count]) => `${source} ${count}`)
  const facts = [
    ['recording', isRecording ? 'on' : 'off (evalHarnessEnabled and evalShadowModeEnabled)'],
    ['records', `${records}${invalid === 0 ? '' : `, ${invalid} invalid`}`],
  ]
  if (records === 0) return table(facts)
  return table([
    ...facts,
    ['days', `${days.length}, ${days[0]} to ${days.at(-1)}`],
    ['with memories', `${((injectedShare ?? 0) * 100).toFixed(1)} %`],
    ['source', sources.join(', ')],
    ['memories', figures(summary.recalledMemoryCount, 1)],
    ['characters', figures(summary.contextChars, 0)],
    ['milliseconds', figures(summary.durationMs, 2)],
  ])
}

const figures = ({ mean, p50, p95 }: ShadowSummary['durationMs'], digits: number): string =>
  `mean ${mean?.toFixed(digits)}, half below ${p50?.toFixed(digits)}, 95 % below ${p95?.toFixed(digits)}`

export const shadowReplay = defineCommand({
  args: {},
  options: {
    candidateSystem: { ...backendOption, help: backendOption.help.replace('What answers.', 'What answers instead.') },
    limit: wholeNumber('The latest queries of the log only.', { min: 1, default: 1_000 }),
    embedder: embedderOption,
    ...memoryOptions,
    store: storeOptions.store,
  },
  description:
    'Shadow records hold no text, so the queries come from the log that `credence recall --log-queries` keeps. Answers of bm25 and of the candidate are compared; nothing of the memory is changed.',
  exitCodes: [exitCodes.nothingCompared],
  examples: {
    'credence shadow replay --candidate-system hybrid': 'Shows what would be recalled differently.',
    'credence shadow replay --candidate-system exact --limit 100 --json': 'Compares the last 100 queries.',
  },
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
  const leastAlike = report.mostChanged
    .slice(0, 5)
    .map(({ query, rankOverlap }) => `query ${query} (${number(rankOverlap)})`)
  const answered = `${report.errors} errors, ${report.identical} answered alike by ${base} and ${candidate}`
  return table([
    ['queries', `${report.queries}, ${answered}`],
    ['overlap', `${number(report.meanOverlap)}, by rank ${number(report.meanRankOverlap)}`],
    ['places moved', number(report.meanChurn)],
    ['beliefs', pair(report.beliefs, 1)],
    ['characters', pair(report.contextChars, 0)],
    ['half below, ms', pair(report.p50Ms, 2)],
    ['95 % below, ms', pair(report.p95Ms, 2)],
    ...(leastAlike.length === 0 ? [] : [['least alike', leastAlike.join(', ')]]),
  ])
}
