import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import type { OpenConflict } from '../../../memory/mirror/merge/conflicts.ts'
import type { Held } from '../../../memory/mirror/state/state.ts'
import { mirrorFile } from '../../../memory/mirror/state/state.ts'
import { type MirrorStatus, mirrorStatus } from '../../../memory/mirror/status.ts'
import { type Synced, syncMirror } from '../../../memory/mirror/sync.ts'
import { watchMirror } from '../../../memory/mirror/watch.ts'
import { defineCommand, exitCodes } from '../../command/command.ts'
import { flag, memoryOptions } from '../../command/options.ts'
import type { LocationOptions, MemoryLocation, Session } from '../../session.ts'
import { short } from '../../text/beliefs.ts'
import { counted, harmless, lines, type Style, wrap } from '../../text/output.ts'

/** The location of a memory, which must exist. */
async function existing(session: Session, options: LocationOptions): Promise<MemoryLocation> {
  const location = session.locate(options)
  if (existsSync(await session.storeFile(location.dir))) return location
  throw new MemoryError('not_found', `There is no memory in ${location.dir}.`, { hint: '`credence init` makes one.' })
}

export const mirrorSync = defineCommand({
  args: {},
  options: { accept: flag('Take in a removal of many items that is held.'), ...memoryOptions },
  description:
    'Changes of the file go to the store, changes of the store go to the file. A file that cannot be read, is a link, or has lost many items at once is held: nothing is changed.',
  exitCodes: [exitCodes.degraded],
  examples: {
    'credence mirror sync': 'Takes in what you edited and writes what is new.',
    'credence mirror sync --accept': 'Confirms that you meant to remove all those lines.',
  },
  async run({ options }, session) {
    const { dir, user } = await existing(session, options)
    const request = { dir, user, accept: options.accept, settle: true, waitMs: 10_000 }
    const synced = await session.withPorts(dir, (ports) => syncMirror(ports, request))
    return {
      document: synced,
      text: (style) => {
        const details = syncedDetails(synced, { ...style, width: style.width - 2 }).map((line) => `  ${line}`)
        return lines(headline(synced, style), synced.held === null && `  ${synced.file}`, details)
      },
      exitCode: synced.outcome === 'held' || synced.conflicts.length > 0 ? exitCodes.degraded : exitCodes.fine,
    }
  },
})

export const mirrorStatusCommand = defineCommand({
  args: {},
  options: memoryOptions,
  description: 'Changes nothing. What came in through the file is unconfirmed until `credence confirm`.',
  exitCodes: [exitCodes.degraded],
  examples: {
    'credence mirror status': 'Shows whether file and store agree, and which beliefs are unconfirmed.',
    'credence mirror status --json': 'The same as one document.',
  },
  async run({ options }, session) {
    const { dir } = await existing(session, options)
    const status = await session.withPorts(dir, (ports) => mirrorStatus(ports, dir))
    const isWell = !status.exists || (status.held === null && status.conflicts.length === 0 && status.problem === null)
    return {
      document: status,
      text: (style) => statusText(status, style),
      exitCode: isWell ? exitCodes.fine : exitCodes.degraded,
    }
  },
})

export const mirrorWatch = defineCommand({
  args: {},
  options: memoryOptions,
  description:
    'Prints a line for each sync that changed something, and below it the decisions that wait for you. Also picks up what other programs remember. Ctrl-C ends it.',
  examples: {
    'credence mirror watch': 'Takes in every save of MEMORY.md a moment after it.',
    'credence mirror watch --dir ./memory': 'The same for the memory of this directory.',
  },
  async run({ options }, session) {
    const { dir, user } = await existing(session, options)
    const ports = await session.ports(dir)
    const { signal, release } = session.interruption()
    const events = new EventQueue()
    const watched = watchMirror(ports, {
      dir,
      user,
      signal,
      onSync: (synced) => events.push(synced),
      onProblem: (problem) => events.push(problem instanceof Error ? problem : new Error(String(problem))),
    }).finally(async () => {
      release()
      await ports.store.close()
      events.end()
    })
    // The generators below rethrow its error; without this it would also count as unhandled.
    watched.catch(() => {})
    return {
      document: documentsOf(events, watched),
      text: (style) => watchTexts(events, `Watching ${join(dir, mirrorFile)}. Ctrl-C ends it.`, style, watched),
    }
  },
})

/** The outcomes of a watch, as they happen. */
class EventQueue {
  readonly #waiting: (Synced | Error)[] = []
  #isOver = false
  #wake: () => void = () => {}

  push(event: Synced | Error): void {
    this.#waiting.push(event)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Synced | Error> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#isOver) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}

async function* documentsOf(events: EventQueue, watched: Promise<void>): AsyncGenerator<object> {
  for await (const event of events) yield event instanceof Error ? { outcome: 'failed', message: event.message } : event
  await watched
}

async function* watchTexts(events: EventQueue, opening: string, style: Style, watched: Promise<void>) {
  const clock = (): string => `${new Date().toISOString().slice(11, 19)}  `
  const indent = clock().length
  const narrow = { ...style, width: style.width - indent }
  yield `${clock()}${opening}\n`
  for await (const event of events) {
    const [first = '', ...rest] =
      event instanceof Error
        ? remark('Failed', style.red, event.message, narrow)
        : [...headline(event, narrow), ...syncedDetails(event, narrow)]
    yield [`${clock()}${first}`, ...rest.map((line) => `${' '.repeat(indent)}${line}`), ''].join('\n')
  }
  await watched
}

/** `2 added, 1 removed`, without what is 0. */
const countsText = (counts: object): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')

/** The outcome of a sync. */
function headline({ held, taken, written, conflicts }: Synced, style: Style): readonly string[] {
  if (held !== null) return remark('Held', style.red, `${heldText(held)} Nothing was changed.`, style)
  const { conflicts: torn, ...changes } = taken
  const took = countsText(changes)
  const did = [took === '' ? '' : `took in ${took}`, torn === 0 ? '' : counted(torn, 'conflict')]
  const wrote = written.length === 0 ? 'nothing to write' : `wrote ${written.join(', ')}`
  const text = `${did.filter((part) => part !== '').join('; ') || 'nothing to take in'}; ${wrote}.`
  return conflicts.length === 0
    ? remark('In step', style.green, text, style)
    : remark('A conflict waits for a decision', style.yellow, text, style)
}

/** What the person has to know or do. */
function syncedDetails({ held, refused, conflicts }: Synced, style: Style): readonly string[] {
  if (held !== null) return wrap(remedyOf(held), style.width)
  return [
    ...refused.flatMap(({ file, line, reason }) =>
      remark('Left as it is', style.yellow, `${file}, line ${line}: ${reason}`, style),
    ),
    ...conflicts.flatMap((conflict) => conflictLines(conflict, style)),
  ]
}

const heldText = ({ file, reason }: Held): string => `${file}, because ${reason}.`

const remedyOf = ({ kind }: Held): string =>
  kind === 'removal'
    ? 'Put the lines back, or say that you meant it: credence mirror sync --accept'
    : 'Put it right, or delete it to have it written anew.'

/** A painted label and its text, on as many lines as it needs. */
function remark(label: string, paint: (text: string) => string, text: string, { width }: Style): readonly string[] {
  const [first = '', ...rest] = wrap(harmless(`${label}: ${text}`), width - 2)
  return [`${paint(first.slice(0, label.length))}${first.slice(label.length)}`, ...rest.map((line) => `  ${line}`)]
}

const below = (text: string, { width }: Style): readonly string[] => wrap(text, width - 2).map((line) => `  ${line}`)

/** An item that was changed in both places, where both versions are, and how to decide. */
function conflictLines({ file, proposals }: OpenConflict, style: Style): readonly string[] {
  const [what, ...steps] =
    proposals.length === 0
      ? [
          `something was changed in both places at once. ${file} has what is not in the store.`,
          `Put back from it what you want. This is said until you delete ${file}.`,
        ]
      : [
          `changed in the file and in the store. The store's version holds; ${file} shows both.`,
          ...proposals.flatMap((id) => [
            `Take the file's version:  credence proposals accept ${id}`,
            `Keep the store's version: credence proposals reject ${id}`,
          ]),
          `Deciding settles it. ${file} is kept even then; delete it when you like.`,
        ]
  return [...remark('Conflict', style.yellow, what ?? '', style), ...steps.flatMap((step) => below(step, style))]
}

function statusText(status: MirrorStatus, style: Style): string {
  if (!status.exists) return `There is no mirror at ${status.file}; \`credence mirror sync\` makes one.`
  const { file, items, topicFiles, pendingEvents: pending, editedFiles, held, problem, unconfirmed, leftAlone } = status
  const edits = countsText(status.waiting)
  const changes = [
    pending > 0 && `${counted(pending, 'change')} of the store ${pending === 1 ? 'is' : 'are'} not in it yet`,
    editedFiles.length > 0 &&
      `${editedFiles.join(', ')} changed since the last sync${edits === '' ? '' : ` (${edits})`}`,
  ].filter((change) => change !== false)
  const plain = (text: string): readonly string[] => wrap(harmless(text), style.width)
  const files = topicFiles.length === 0 ? '' : `, with ${counted(topicFiles.length, 'more file')}`
  return lines(
    plain(`${file}: ${counted(items, 'item')}${files}.`),
    leftAlone > 0 && plain(leftAloneText(leftAlone, file)),
    held !== null && remark(`Held since ${held.since}`, style.red, heldText(held), style),
    held !== null && below(remedyOf(held), style),
    problem !== null && remark(`Failed at ${problem.at}`, style.red, problem.message, style),
    changes.length > 0 &&
      plain(`${changes.join('; ')}${held === null ? ': `credence mirror sync` brings them in step.' : '.'}`),
    status.isInStep && style.green('In step with the store.'),
    status.conflicts.flatMap((conflict) => conflictLines(conflict, style)),
    status.refused.flatMap(({ file: name, line, reason }) =>
      remark('Not taken in', style.yellow, `${name}, line ${line}: ${reason}`, style),
    ),
    status.isWritableByOthers &&
      remark('Careful', style.yellow, `anybody on this machine may write to it; run: chmod o-w ${file}`, style),
    unconfirmed.length > 0 &&
      `Unconfirmed, from the file (${unconfirmed.length}); \`credence confirm\` makes it your word:`,
    unconfirmed.map(({ id, name, content }) => `  ${harmless(id)}  ${harmless(name)}: ${short(content)}`),
  )
}

/** Lists that the person wrote outside the managed sections are not part of the memory; how to import them. */
export const leftAloneText = (count: number, file: string): string =>
  `${counted(count, 'list item')} outside the managed sections ${count === 1 ? 'is' : 'are'} left alone and not remembered; to take ${count === 1 ? 'it' : 'them'} in: credence import --markdown ${file}`
