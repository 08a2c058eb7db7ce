import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import type { OpenConflict } from '../../../memory/mirror/open-conflicts.ts'
import { mirrorFile } from '../../../memory/mirror/places.ts'
import type { Held } from '../../../memory/mirror/state.ts'
import { type MirrorStatus, mirrorStatus } from '../../../memory/mirror/status.ts'
import { type Synced, syncMirror } from '../../../memory/mirror/sync.ts'
import type { WaitingEdits } from '../../../memory/mirror/waiting-edits.ts'
import { watchMirror } from '../../../memory/mirror/watch.ts'
import { defineCommand, exitCodes, flag } from '../../command/command.ts'
import { placeOptions } from '../../command/common-options.ts'
import { short } from '../../text/beliefs.ts'
import { counted, harmless, type Style, wrap } from '../../text/output.ts'

export const mirrorSync = defineCommand({
  args: {},
  options: {
    accept: flag('Take in a removal of many items that is held.'),
    ...placeOptions,
  },
  description:
    'What changed in the file is taken in, what changed in the store is written. A file that cannot be read, is a link, or has lost many items at once is held: nothing is changed.',
  exitCodes: [exitCodes.degraded],
  examples: [
    { command: 'credence mirror sync', effect: 'Takes in what you edited and writes what is new.' },
    { command: 'credence mirror sync --accept', effect: 'Says that you meant to take out all those lines.' },
  ],
  async run({ options }, session) {
    const { dir, user } = session.place(options)
    if (!existsSync(await session.storeFile(dir))) throw noMemory(dir)
    const ports = await session.ports(dir)
    try {
      const synced = await syncMirror(ports, { dir, user, accept: options.accept, settle: true, waitMs: 10_000 })
      return {
        document: synced,
        text: (style) => syncedText(synced, style),
        exitCode: synced.outcome === 'held' || synced.conflicts.length > 0 ? exitCodes.degraded : exitCodes.fine,
      }
    } finally {
      await ports.store.close()
    }
  },
})

export const noMemory = (dir: string): MemoryError =>
  new MemoryError('not_found', `There is no memory in ${dir}.`, { hint: '`credence init` makes one.' })

/** What a sync did, in a line and what needs saying beside it. */
export function syncedText(synced: Synced, style: Style): string {
  const details = syncedDetails(synced, { ...style, width: style.width - 2 }).map((line) => `  ${line}`)
  return [...headline(synced, style), ...(synced.held === null ? [`  ${synced.file}`] : []), ...details].join('\n')
}

/** What a sync came to. */
export function headline({ held, taken, written, conflicts }: Synced, style: Style): readonly string[] {
  if (held !== null) return remark('Held', style.red, `${heldText(held)} Nothing was changed.`, style)
  const { conflicts: torn, ...changes } = taken
  const counts = Object.entries(changes).filter(([, count]) => count > 0)
  const took = counts.length === 0 ? [] : [`took in ${counts.map(([what, count]) => `${count} ${what}`).join(', ')}`]
  const did = [...took, ...(torn === 0 ? [] : [counted(torn, 'conflict')])]
  const wrote = written.length === 0 ? 'nothing to write' : `wrote ${written.join(', ')}`
  const text = `${did.length === 0 ? 'nothing to take in' : did.join('; ')}; ${wrote}.`
  return conflicts.length === 0
    ? remark('In step', style.green, text, style)
    : remark('A conflict waits for a decision', style.yellow, text, style)
}

/** What somebody has to know, or do. */
export function syncedDetails({ held, refused, conflicts }: Synced, style: Style): readonly string[] {
  if (held !== null) return wrap(remedyOf(held), style.width)
  return [
    ...refused.flatMap(({ file, line, reason }) =>
      remark('Left as it is', style.yellow, `${file}, line ${line}: ${reason}`, style),
    ),
    ...conflicts.flatMap((conflict) => conflictLines(conflict, style)),
  ]
}

export const heldText = ({ file, reason }: Held): string => `${file}, because ${reason}.`

export const remedyOf = ({ kind }: Held): string =>
  kind === 'removal'
    ? 'Put the lines back, or say that you meant it: credence mirror sync --accept'
    : 'Put it right, or delete it to have it written anew.'

/** A painted word and what it is about, on as many lines as that needs. */
export function remark(label: string, paint: (text: string) => string, text: string, { width }: Style) {
  const [first = '', ...rest] = wrap(harmless(`${label}: ${text}`), width - 2)
  return [`${paint(first.slice(0, label.length))}${first.slice(label.length)}`, ...rest.map((line) => `  ${line}`)]
}

/** What was changed in both places, where both versions are, and how to decide. */
export function conflictLines({ file, proposals }: OpenConflict, style: Style): readonly string[] {
  const below = (text: string): readonly string[] => wrap(text, style.width - 2).map((line) => `  ${line}`)
  const [first] = proposals
  if (first === undefined)
    return [
      ...remark(
        'Conflict',
        style.yellow,
        `something was changed in both places at once. ${file} has what is not in the store.`,
        style,
      ),
      ...below(`Put back from it what you want. This is said until you delete ${file}.`),
    ]
  return [
    ...remark(
      'Conflict',
      style.yellow,
      `changed in the file and in the store. The store's version holds; ${file} shows both.`,
      style,
    ),
    ...proposals.flatMap((id) => [
      ...below(`Take the file's version:  credence proposals accept ${id}`),
      ...below(`Keep the store's version: credence proposals reject ${id}`),
    ]),
    ...below(`Deciding settles it. ${file} is kept even then; delete it when you like.`),
  ]
}

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

export const mirrorWatch = defineCommand({
  args: {},
  options: placeOptions,
  description:
    'Prints a line for each sync that did something, and below it what waits for you. Also picks up what other programs remember. Ctrl-C ends it.',
  examples: [
    { command: 'credence mirror watch', effect: 'Takes in every save of MEMORY.md a moment after it.' },
    { command: 'credence mirror watch --dir ./memory', effect: 'The same for the memory of this directory.' },
  ],
  async run({ options }, session) {
    const { dir, user } = session.place(options)
    if (!existsSync(await session.storeFile(dir))) throw noMemory(dir)
    const ports = await session.ports(dir)
    const { signal, release } = session.interruption()
    const lines = new Lines()
    const watched = watchMirror(ports, {
      dir,
      user,
      signal,
      onSync: (synced) => lines.push(synced),
      onProblem: (problem) => lines.push(problem instanceof Error ? problem : new Error(String(problem))),
    }).finally(async () => {
      release()
      await ports.store.close()
      lines.end()
    })
    // Whoever prints the lines sees what went wrong; nobody else has to.
    watched.catch(() => {})
    return {
      document: lines.documents(watched),
      text: (style) => lines.texts(`Watching ${join(dir, mirrorFile)}. Ctrl-C ends it.`, style, watched),
    }
  },
})

/** What happens, as it happens. */
class Lines {
  readonly #waiting: (Synced | Error)[] = []
  #isOver = false
  #wake: () => void = () => {}

  push(line: Synced | Error): void {
    this.#waiting.push(line)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *documents(watched: Promise<void>): AsyncGenerator<object> {
    for await (const line of this.#all())
      yield line instanceof Error ? { outcome: 'failed', message: line.message } : line
    await watched
  }

  async *texts(opening: string, style: Style, watched: Promise<void>): AsyncGenerator<string> {
    yield `${clock()}  ${opening}\n`
    const narrow = { ...style, width: style.width - indent }
    for await (const line of this.#all()) {
      const [first = '', ...rest] =
        line instanceof Error
          ? remark('Failed', style.red, line.message, narrow)
          : [...headline(line, narrow), ...syncedDetails(line, narrow)]
      yield [`${clock()}  ${first}`, ...rest.map((one) => `${' '.repeat(indent)}${one}`), ''].join('\n')
    }
    await watched
  }

  async *#all(): AsyncGenerator<Synced | Error> {
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

const clock = (): string => new Date().toISOString().slice(11, 19)

/** As wide as the time and what stands behind it. */
const indent = 10
