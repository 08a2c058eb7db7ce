import { join } from 'node:path'
import { mirrorFile } from '../../../memory/mirror/state/state.ts'
import { mirrorStatus } from '../../../memory/mirror/status.ts'
import { type Synced, syncMirror } from '../../../memory/mirror/sync.ts'
import { type WatchRequest, watchMirror } from '../../../memory/mirror/watch.ts'
import { listMirrorProblems, listWaitingWork } from '../../../operations/mirror-report.ts'
import { type CommandAnswer, type DefaultAnswer, defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { flag, memoryOptions, optionalChoice } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { shortenText } from '../../text/beliefs.ts'
import { indentText, lines, listShort, pluralize, type Style } from '../../text/output.ts'

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
    'credence mirror watch': 'Imports every save of MEMORY.md within a second.',
  },
  async run({ args: { action = 'status' }, options }, session) {
    if (options.accept && action !== 'sync')
      throw new UsageError('--accept is for `mirror sync`.', 'Leave it out, or write `credence mirror sync --accept`.')
    const { dir, user } = session.places.locate(options)
    if (action === 'status') return statusAnswer(session, dir)
    const request = { dir, user, authority: session.places.settings(options).mirrorAuthority }
    return action === 'sync' ? syncOnce(session, request, options.accept) : watchAnswer(session, request)
  },
})

type MirrorTarget = Pick<WatchRequest, 'dir' | 'user' | 'authority'>

async function syncOnce(session: Session, target: MirrorTarget, accept: boolean): Promise<CommandAnswer> {
  const request = { ...target, accept, settle: true, waitMs: 10_000 }
  const done = await session.memories.withPorts(target.dir, (ports) => syncMirror(ports, request))
  return {
    document: done,
    text: (style) =>
      lines(
        headline(done, style),
        `  ${done.file}`,
        detailsText(done).map((text) => indentText(text, 2, style.width)),
      ),
    notes: decideNote(done),
    exitCode: done.outcome === 'held' || done.conflicts.length > 0 ? exitCodes.degraded : exitCodes.fine,
  }
}

async function statusAnswer(session: Session, dir: string): Promise<DefaultAnswer> {
  const status = await session.memories.withPorts(dir, (ports) => mirrorStatus(ports, dir))
  if (!status.exists)
    return {
      document: status,
      shown: {},
      notes: [`There is no file ${status.file} yet; \`credence mirror sync\` creates it.`],
    }
  const { file, isPartial, leftAlone, unconfirmed, held, problem, conflicts } = status
  const work = listWaitingWork(status)
  return {
    document: status,
    shown: {
      file,
      items: `${status.items}${isPartial ? '; `credence beliefs` lists those that do not fit' : ''}`,
      state: status.isInSync ? 'the file and the store agree' : work.join(' ') || 'not in sync',
      ignored: leftAlone > 0 && leftAloneText(leftAlone, file),
      warning: status.isWritableByOthers && `every user of this machine can change the file; run: chmod o-w ${file}`,
      problems: listMirrorProblems(status).map((text) => ({ text })),
      unconfirmed: unconfirmed.map(({ id, name, content }) => ({ id, name, statement: shortenText(content) })),
    },
    notes: [...decideNote(status), unconfirmed.length > 0 && '`credence confirm <id>` confirms an unconfirmed belief.'],
    exitCode: held === null && problem === null && conflicts.length === 0 ? exitCodes.fine : exitCodes.degraded,
  }
}

const decideNote = ({ undecided }: Pick<Synced, 'undecided'>): readonly string[] => {
  const names = undecided.map(({ target, proposal }) => `"${(target ?? proposal).name}"`)
  return names.length === 0
    ? []
    : [`\`credence review\` shows and decides the waiting edits of ${listShort(names, 10)}.`]
}

function watchAnswer(session: Session, target: MirrorTarget): CommandAnswer {
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
  const clock = (): string => new Date().toTimeString().slice(0, 8)
  yield `${clock()}  ${opening}\n`
  for await (const event of events()) {
    const said = event instanceof Error ? `${style.red('Failed')}: ${event.message}` : headline(event, style)
    yield `${clock()}  ${said}\n`
    if (!(event instanceof Error))
      yield lines(...detailsText(event).map((text) => indentText(text, 10, style.width)), '')
  }
}

/** `2 added, 1 removed`, without zeros. */
const countsText = (counts: object): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')

function headline({ held, taken, written, undecided, conflicts }: Synced, style: Style): string {
  if (held !== null) return `${style.red('Held')}: Nothing was changed.`
  const { conflicts: torn, proposed: _, ...changes } = taken
  const imported = countsText(changes)
  const did = [imported !== '' && `imported ${imported}`, torn > 0 && pluralize(torn, 'conflict')].filter(Boolean)
  const wrote = written.length === 0 ? 'nothing to write' : `wrote ${written.join(', ')}`
  const state = conflicts.length > 0 ? 'A save was not merged' : undecided.length > 0 ? 'Waiting for you' : 'In sync'
  const paint = state === 'In sync' ? style.green : style.yellow
  return `${paint(state)}: ${did.join('; ') || 'no edits to import'}; ${wrote}.`
}

const detailsText = (synced: Synced): readonly string[] => [...listMirrorProblems(synced), ...listWaitingWork(synced)]

/** Explains that list items outside the managed sections are not part of the memory, and how to import them. */
export const leftAloneText = (count: number, file: string): string =>
  `${pluralize(count, 'list item')} outside the managed sections ${count === 1 ? 'is' : 'are'} ignored; to import ${count === 1 ? 'it' : 'them'}: credence import --markdown ${file}`
