import { join } from 'node:path'
import type { Belief } from '../../../beliefs/belief.ts'
import { isRemoval } from '../../../memory/change/proposals.ts'
import type { UndecidedEdit } from '../../../memory/mirror/merge/waiting.ts'
import { type HeldMirror, mirrorFile } from '../../../memory/mirror/state/state.ts'
import { type MirrorStatus, mirrorStatus } from '../../../memory/mirror/status.ts'
import { type Synced, syncMirror } from '../../../memory/mirror/sync.ts'
import { type WatchRequest, watchMirror } from '../../../memory/mirror/watch.ts'
import { type CommandAnswer, defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { flag, memoryOptions, optionalChoice } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { nameText, short } from '../../text/beliefs.ts'
import { lines, pluralize, type Style, stripControlCharacters, wrap } from '../../text/output.ts'

const actions = ['status', 'sync', 'watch'] as const

export const mirror = defineCommand({
  args: {
    action: optionalChoice(
      actions,
      'sync: synchronise the file and the store, both ways; creates the file. watch: sync until interrupted. Default: status, which changes nothing.',
    ),
  },
  options: { accept: flag('With sync: accept the removal of many items at once.'), ...memoryOptions },
  description:
    '`status` shows whether file and store agree, which decisions wait for you, and which beliefs from the file are unconfirmed until `credence confirm`. `sync` imports edits of the file, and writes changes of the store to it. An edit that concerns user:universal or a standing instruction, or changes or removes a belief of a person or an agent, waits for your decision (`credence review`). If the file cannot be read, is a link, or has lost many items at once, nothing is changed. `watch` prints a line for each sync that changed something, and below it the decisions that wait for you; changes by other programs are included, and Ctrl-C ends it.',
  exitCodes: [exitCodes.degraded],
  examples: {
    'credence mirror sync': 'Imports your edits, and updates the file.',
    'credence mirror sync --accept': 'Accepts the removal of many lines at once.',
    'credence mirror status --json': 'Prints whether file and store agree as one JSON document.',
    'credence mirror watch': 'Imports every save of MEMORY.md within a second.',
  },
  async run({ args: { action = 'status' }, options }, session) {
    if (options.accept && action !== 'sync')
      throw new UsageError('--accept is for `mirror sync`.', 'Leave it out, or write `credence mirror sync --accept`.')
    const { dir, user } = await session.places.locateExisting(options)
    if (action === 'status') return statusOf(session, dir)
    const request = { dir, user, authority: session.places.settings(options).mirrorAuthority }
    return action === 'sync' ? syncOnce(session, request, options.accept) : watching(session, request)
  },
})

type MirrorTarget = Pick<WatchRequest, 'dir' | 'user' | 'authority'>

async function syncOnce(session: Session, target: MirrorTarget, accept: boolean): Promise<CommandAnswer> {
  const request = { ...target, accept, settle: true, waitMs: 10_000 }
  const done = await session.memories.withPorts(target.dir, (ports) => syncMirror(ports, request))
  return {
    document: done,
    text: (style) => {
      const details = syncedDetails(done, { ...style, width: style.width - 2 }).map((line) => `  ${line}`)
      return lines(headline(done, style), done.held === null && `  ${done.file}`, details)
    },
    exitCode: done.outcome === 'held' || done.conflicts.length > 0 ? exitCodes.degraded : exitCodes.fine,
  }
}

async function statusOf(session: Session, dir: string): Promise<CommandAnswer> {
  const status = await session.memories.withPorts(dir, (ports) => mirrorStatus(ports, dir))
  const isWell = !status.exists || (status.held === null && status.conflicts.length === 0 && status.problem === null)
  return {
    document: status,
    text: (style) => statusText(status, style),
    exitCode: isWell ? exitCodes.fine : exitCodes.degraded,
  }
}

function watching(session: Session, target: MirrorTarget): CommandAnswer {
  const { signal } = session.program.interruption()
  const events = (): AsyncGenerator<Synced | Error> => watchUntilStopped(session, { ...target, signal })
  return {
    document: documentsOf(events),
    text: (style) => watchTexts(events, `Watching ${join(target.dir, mirrorFile)}. Ctrl-C ends it.`, style),
  }
}

async function* watchUntilStopped(session: Session, request: WatchRequest): AsyncGenerator<Synced | Error> {
  const ports = await session.memories.ports(request.dir)
  try {
    yield* watchMirror(ports, request)
  } finally {
    await ports.store.close()
  }
}

async function* documentsOf(events: () => AsyncIterable<Synced | Error>): AsyncGenerator<object> {
  for await (const event of events())
    yield event instanceof Error ? { outcome: 'failed', message: event.message } : event
}

async function* watchTexts(events: () => AsyncIterable<Synced | Error>, opening: string, style: Style) {
  const clock = (): string => `${new Date().toTimeString().slice(0, 8)}  `
  const indent = clock().length
  const narrow = { ...style, width: style.width - indent }
  yield `${clock()}${opening}\n`
  for await (const event of events()) {
    const [first = '', ...rest] =
      event instanceof Error
        ? remark('Failed', style.red, event.message, narrow)
        : [...headline(event, narrow), ...syncedDetails(event, narrow)]
    yield [`${clock()}${first}`, ...rest.map((line) => `${' '.repeat(indent)}${line}`), ''].join('\n')
  }
}

/** `2 added, 1 removed`, without zeros. */
const countsText = (counts: object): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')

function headline({ held, taken, written, undecided, conflicts }: Synced, style: Style): readonly string[] {
  if (held !== null) return remark('Held', style.red, `${heldText(held)} Nothing was changed.`, style)
  const { conflicts: torn, proposed: _, ...changes } = taken
  const took = countsText(changes)
  const did = [took === '' ? '' : `imported ${took}`, torn === 0 ? '' : pluralize(torn, 'conflict')]
  const wrote = written.length === 0 ? 'nothing to write' : `wrote ${written.join(', ')}`
  const text = `${did.filter((part) => part !== '').join('; ') || 'no edits to import'}; ${wrote}.`
  if (conflicts.length > 0) return remark('A save was not merged', style.yellow, text, style)
  if (undecided.length > 0)
    return remark(`${pluralize(undecided.length, 'edit')} waiting for your decision`, style.yellow, text, style)
  return remark('In sync', style.green, text, style)
}

function syncedDetails({ held, refused, undecided, conflicts }: Synced, style: Style): readonly string[] {
  if (held !== null) return wrap(remedyOf(held), style.width)
  return [
    ...refused.flatMap(({ file, line, reason }) =>
      remark('Left as it is', style.yellow, `${file}, line ${line}: ${reason}`, style),
    ),
    ...conflicts.flatMap((file) => conflictLines(file, style)),
    ...undecidedLines(undecided, style),
  ]
}

const maxShown = 10

const undecidedLines = (undecided: readonly UndecidedEdit[], style: Style): readonly string[] => [
  ...undecided.slice(0, maxShown).flatMap((edit) => editLines(edit, style)),
  ...(undecided.length > maxShown ? [`And ${undecided.length - maxShown} more.`] : []),
  ...(undecided.length > 0 ? [`Decide: ${style.command} review`] : []),
]

/** A waiting edit, with the statement before and after it. `credence review` shows its other fields. */
function editLines({ proposal, target }: UndecidedEdit, style: Style): readonly string[] {
  const marked = (mark: string, paint: (text: string) => string, { content }: Belief): readonly string[] =>
    content.split('\n').map((line) => paint(`  ${mark} ${stripControlCharacters(line)}`))
  const what = target === null ? 'add' : isRemoval(proposal) ? 'remove' : 'change'
  const scopes = target === null ? ` to ${proposal.scopes.join(' and ')}` : ''
  return [
    ...remark('Waiting', style.yellow, `${what} ${nameText(target ?? proposal)}${scopes}.`, style),
    ...(target === null ? [] : marked('-', style.red, target)),
    ...(isRemoval(proposal) ? [] : marked('+', style.green, proposal)),
  ]
}

const heldText = ({ file, reason }: HeldMirror): string => `${file}, because ${reason}.`

const remedyOf = ({ kind }: HeldMirror): string =>
  kind === 'removal'
    ? 'Put the lines back, or accept the removal: credence mirror sync --accept'
    : 'Repair the file, or delete it to have it written again.'

/** A coloured label and its text, wrapped to the width. */
function remark(label: string, paint: (text: string) => string, text: string, { width }: Style): readonly string[] {
  const [first = '', ...rest] = wrap(stripControlCharacters(`${label}: ${text}`), width - 2)
  return [`${paint(first.slice(0, label.length))}${first.slice(label.length)}`, ...rest.map((line) => `  ${line}`)]
}

const below = (text: string, { width }: Style): readonly string[] => wrap(text, width - 2).map((line) => `  ${line}`)

/** Explains that another program's save could not be merged, and in which file it was kept. */
const conflictLines = (file: string, style: Style): readonly string[] => [
  ...remark('Conflict', style.yellow, `a save of another program could not be merged. It is in ${file}.`, style),
  ...below(`Copy from it what you want to keep. This message appears until you delete ${file}.`, style),
]

function statusText(status: MirrorStatus, style: Style): string {
  if (!status.exists) return `There is no file ${status.file} yet; \`credence mirror sync\` creates it.`
  const { file, items, isPartial, pendingEvents: pending, editedFiles, held, problem, unconfirmed, leftAlone } = status
  const changes = [
    pending > 0 && `${pluralize(pending, 'change')} of the store ${pending === 1 ? 'is' : 'are'} not in it yet`,
    editedFiles.length > 0 && `${editedFiles.join(', ')} changed since the last sync`,
  ].filter((change) => change !== false)
  const plain = (text: string): readonly string[] => wrap(stripControlCharacters(text), style.width)
  const rest = isPartial ? '; `credence beliefs` lists those that do not fit' : ''
  return lines(
    plain(`${file}: ${pluralize(items, 'item')}${rest}.`),
    leftAlone > 0 && plain(leftAloneText(leftAlone, file)),
    held !== null && remark(`Held since ${held.since}`, style.red, heldText(held), style),
    held !== null && below(remedyOf(held), style),
    problem !== null && remark('Damaged', style.red, problem, style),
    changes.length > 0 &&
      plain(`${changes.join('; ')}${held === null ? '; `credence mirror sync` synchronises both.' : '.'}`),
    status.isInSync && style.green('The file and the store agree.'),
    status.conflicts.flatMap((file) => conflictLines(file, style)),
    undecidedLines(status.undecided, style),
    status.refused.flatMap(({ file: name, line, reason }) =>
      remark('Not imported', style.yellow, `${name}, line ${line}: ${reason}`, style),
    ),
    status.isWritableByOthers &&
      remark('Warning', style.yellow, `every user of this machine can change the file; run: chmod o-w ${file}`, style),
    unconfirmed.length > 0 &&
      `Unconfirmed, from the file (${unconfirmed.length}); \`credence confirm <id>\` confirms one:`,
    unconfirmed.map(
      ({ id, name, content }) => `  ${stripControlCharacters(id)}  ${stripControlCharacters(name)}: ${short(content)}`,
    ),
  )
}

/** Explains that list items outside the managed sections are not part of the memory, and how to import them. */
export const leftAloneText = (count: number, file: string): string =>
  `${pluralize(count, 'list item')} outside the managed sections ${count === 1 ? 'is' : 'are'} ignored; to import ${count === 1 ? 'it' : 'them'}: credence import --markdown ${file}`
