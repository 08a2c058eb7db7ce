import { type ShadowSummary, summariseShadows } from '../../../eval/shadow/shadow-summary.ts'
import { defineCommand } from '../../command.ts'
import { columns } from '../../text-layout.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const shadowStatus = defineCommand({
  args: {},
  options: storeOptions,
  description: 'Records are kept while the settings evalHarnessEnabled and evalShadowModeEnabled are on.',
  examples: [
    { command: 'credence shadow status', effect: 'Shows how many recalls were recorded, and what they were like.' },
    { command: 'credence shadow status --json', effect: 'Prints the same as JSON.' },
  ],
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
  const rows = [
    ['recording', isRecording ? 'on' : 'off (evalHarnessEnabled and evalShadowModeEnabled)'],
    ['records', `${records}${invalid === 0 ? '' : `, ${invalid} invalid`}`],
    ...(records === 0
      ? []
      : [
          ['days', `${days.length}, ${days[0]} to ${days.at(-1)}`],
          ['with memories', `${((injectedShare ?? 0) * 100).toFixed(1)} %`],
          [
            'source',
            Object.entries(bySource)
              .map(([source, count]) => `${source} ${count}`)
              .join(', '),
          ],
          ['memories', figures(summary.recalledMemoryCount, 1)],
          ['characters', figures(summary.contextChars, 0)],
          ['milliseconds', figures(summary.durationMs, 2)],
        ]),
  ]
  return columns(rows, { indent: 0 })
}

const figures = ({ mean, p50, p95 }: ShadowSummary['durationMs'], digits: number): string =>
  `mean ${mean?.toFixed(digits)}, half below ${p50?.toFixed(digits)}, 95 % below ${p95?.toFixed(digits)}`
