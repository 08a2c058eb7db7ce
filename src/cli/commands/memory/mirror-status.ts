import { existsSync } from 'node:fs'
import { type MirrorStatus, mirrorStatus, type WaitingEdits } from '../../../memory/mirror/status.ts'
import { defineCommand } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import { short } from '../../describe-belief.ts'
import { exitCodes } from '../../exit-codes.ts'
import { harmless, type Style } from '../../output.ts'
import { counted, wrap } from '../../text-layout.ts'
import { conflictLines, heldText, noMemory, remark, remedyOf } from './mirror-sync.ts'

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
    const ports = await session.ports(dir)
    try {
      const status = await mirrorStatus(ports, dir)
      const isWell =
        !status.exists || (status.held === null && status.conflicts.length === 0 && status.problem === null)
      return {
        document: status,
        text: (style) => statusText(status, style),
        exitCode: isWell ? exitCodes.fine : exitCodes.degraded,
      }
    } finally {
      await ports.store.close()
    }
  },
})

function statusText(status: MirrorStatus, style: Style): string {
  if (!status.exists) return `There is no mirror at ${status.file}; \`credence mirror sync\` makes one.`
  const {
    file,
    items,
    topicFiles,
    pendingEvents,
    editedFiles,
    held,
    conflicts,
    refused,
    unconfirmed,
    problem,
    leftAlone,
  } = status
  const waiting = [
    ...(pendingEvents === 0
      ? []
      : [
          pendingEvents === 1
            ? '1 change of the store is not in it yet'
            : `${pendingEvents} changes of the store are not in it yet`,
        ]),
    ...(editedFiles.length === 0
      ? []
      : [`${editedFiles.join(', ')} changed since the last sync${editsText(status.waiting)}`]),
  ]
  const plain = (text: string): readonly string[] => wrap(harmless(text), style.width)
  const files = topicFiles.length === 0 ? '' : `, with ${counted(topicFiles.length, 'more file')}`
  return [
    ...plain(`${file}: ${counted(items, 'item')}${files}.`),
    ...(leftAlone === 0 ? [] : plain(leftAloneText(leftAlone, file))),
    ...(held === null
      ? []
      : [
          ...remark(`Held since ${held.since}`, style.red, heldText(held), style),
          ...wrap(remedyOf(held), style.width - 2).map((line) => `  ${line}`),
        ]),
    ...(problem === null ? [] : remark(`Failed at ${problem.at}`, style.red, problem.message, style)),
    ...(waiting.length === 0
      ? []
      : plain(`${waiting.join('; ')}${held === null ? ': `credence mirror sync` brings them in step.' : '.'}`)),
    ...(status.isInStep ? [style.green('In step with the store.')] : []),
    ...conflicts.flatMap((conflict) => conflictLines(conflict, style)),
    ...refused.flatMap(({ file: name, line, reason }) =>
      remark('Not taken in', style.yellow, `${name}, line ${line}: ${reason}`, style),
    ),
    ...(status.isWritableByOthers
      ? remark('Careful', style.yellow, `anybody on this machine may write to it; run: chmod o-w ${file}`, style)
      : []),
    ...(unconfirmed.length === 0
      ? []
      : [
          `Unconfirmed, from the file (${unconfirmed.length}); \`credence confirm\` makes it your word:`,
          ...unconfirmed.map(({ id, name, content }) => `  ${harmless(id)}  ${harmless(name)}: ${short(content)}`),
        ]),
  ].join('\n')
}

/** How many edits wait to be taken in, by kind. */
function editsText(waiting: WaitingEdits): string {
  const counts = Object.entries(waiting).filter(([, count]) => count > 0)
  return counts.length === 0 ? '' : ` (${counts.map(([what, count]) => `${count} ${what}`).join(', ')})`
}

/** That somebody's own lists are no part of the memory, and how they become one. */
export const leftAloneText = (count: number, file: string): string =>
  `${counted(count, 'list item')} outside the managed sections ${count === 1 ? 'is' : 'are'} left alone and not remembered; to take ${count === 1 ? 'it' : 'them'} in: credence import --markdown ${file}`
