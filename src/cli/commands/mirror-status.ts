import { existsSync } from 'node:fs'
import { type MirrorStatus, mirrorStatus } from '../../memory/mirror/status.ts'
import { defineCommand } from '../command.ts'
import { placeOptions } from '../common-options.ts'
import { short } from '../describe-belief.ts'
import { exitCodes } from '../exit-codes.ts'
import { harmless, type Style } from '../output.ts'
import { noMemory } from './mirror-sync.ts'

export const mirrorStatusCommand = defineCommand({
  args: {},
  options: placeOptions,
  description: 'Changes nothing. What came in through the file is unconfirmed until `credence confirm`.',
  exitCodes: [exitCodes.degraded],
  examples: [
    { command: 'credence mirror status', effect: 'Says whether file and store agree, and what is unconfirmed.' },
    { command: 'credence mirror status --json', effect: 'The same as one document.' },
  ],
  async run({ options }, session) {
    const { dir } = session.place(options)
    if (!existsSync(await session.storeFile(dir))) throw noMemory(dir)
    const workshop = await session.workshop(dir)
    try {
      const status = await mirrorStatus(workshop, dir)
      const isWell =
        !status.exists || (status.held === null && status.conflicts.length === 0 && status.problem === null)
      return {
        document: status,
        text: (style) => statusText(status, style),
        exitCode: isWell ? exitCodes.fine : exitCodes.degraded,
      }
    } finally {
      await workshop.store.close()
    }
  },
})

function statusText(status: MirrorStatus, style: Style): string {
  if (!status.exists) return `There is no mirror at ${status.file}; \`credence mirror sync\` makes one.`
  const { file, items, topicFiles, pendingEvents, editedFiles, held, conflicts, refused, unconfirmed, problem } = status
  const waiting = [
    ...(pendingEvents === 0 ? [] : [`${pendingEvents} changes of the store are not in it yet`]),
    ...(editedFiles.length === 0 ? [] : [`${editedFiles.join(', ')} changed since the last sync`]),
  ]
  return [
    `${file}: ${items} items${topicFiles.length === 0 ? '' : `, with ${topicFiles.length} more files`}.`,
    ...(held === null
      ? []
      : [`${style.red('Held')} since ${held.since}: ${harmless(held.reason)} (${harmless(held.file)}).`]),
    ...(problem === null ? [] : [`${style.red('Failed')} at ${problem.at}: ${harmless(problem.message)}`]),
    ...(waiting.length === 0 ? [] : [`${waiting.join('; ')}: \`credence mirror sync\` brings them in step.`]),
    ...(status.isInStep ? [style.green('In step with the store.')] : []),
    ...conflicts.map(
      ({ file: name, proposals }) =>
        `${style.yellow('Conflict')}: ${name}${proposals.length === 0 ? '' : `; proposals ${proposals.join(', ')}: decide with \`credence proposals\``}`,
    ),
    ...refused.map(
      ({ file: name, line, reason }) =>
        `${style.yellow('Not taken in')}: ${harmless(name)}, line ${line}: ${harmless(reason)}`,
    ),
    ...(status.isWritableByOthers
      ? [`${style.yellow('Careful')}: anybody on this machine may write to it; run: chmod o-w ${file}`]
      : []),
    ...(unconfirmed.length === 0
      ? []
      : [
          `Unconfirmed, from the file (${unconfirmed.length}):`,
          ...unconfirmed.map(({ id, name, content }) => `  ${harmless(id)}  ${harmless(name)}: ${short(content)}`),
        ]),
  ].join('\n')
}
