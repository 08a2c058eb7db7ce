import { type ShadowSummary, summariseShadows } from '../../../eval/shadow/shadow-summary.ts'
import { defineCommand } from '../../command/command.ts'
import { table } from '../../text/output.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const shadowStatus = defineCommand({
  args: {},
  options: storeOptions,
  description: 'Needs the settings evalHarnessEnabled and evalShadowModeEnabled to record recalls.',
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
