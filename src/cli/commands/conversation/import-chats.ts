import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { universalScope } from '../../../beliefs/scope.ts'
import { invalid, type MemoryError } from '../../../errors.ts'
import { listFilesAt } from '../../../files/read-text.ts'
import { isWithin } from '../../../memory/conversation/pause.ts'
import type { Author } from '../../../memory/ports.ts'
import { type ChatFormat, chatFormats } from '../../../memory/transfer/chats/chat.ts'
import { type ChatItem, readChats, recogniseChats } from '../../../memory/transfer/chats/read-chats.ts'
import { defineCommand } from '../../command/command.ts'
import { choice, flag, optional, timeOptions, writeOptions } from '../../command/options.ts'
import { findHistories, listNewestFirst, lockImport, noteImport } from '../../histories.ts'
import { slug } from '../../memory-location.ts'
import { startedNote, startVectors } from '../../new-vectors.ts'
import type { LocationOptions, Session } from '../../session.ts'
import { pluralize } from '../../text/output.ts'
import { heardLinesAnswer, hearLines, lineFormat, newHeardLines } from './hear.ts'

export const importChats = defineCommand({
  args: {
    path: optional(
      'A file of conversations, an export archive, or a directory of such files. Without it, the histories of the agents on this machine are imported.',
    ),
  },
  options: {
    from: choice(
      '<format>',
      chatFormats,
      'The program that wrote the files.',
      'detected from the content of each file',
    ),
    since: timeOptions.since,
    dryRun: flag('Count the turns that would be stored, and store nothing.'),
    ...writeOptions,
    scope: {
      ...writeOptions.scope,
      default: 'the repository that a conversation took place in; without one, user:universal',
    },
  },
  description: `Reads the conversations of Claude Code, Codex, Gemini CLI, opencode, OpenClaw and Cursor, the archives that ChatGPT and Claude export (zip or conversations.json), and JSON Lines. Stores every turn word for word, with secrets masked; a tool step, its call and its result, is a turn of at most 4,000 characters. Statements in them become candidates for review, never beliefs. A conversation goes to the scope of the repository that it took place in; all others go to user:universal, unless --scope is given. Each turn is stored once, so an interrupted import can be run again. A line of JSON Lines is ${lineFormat}; only text is required. Unreadable input is reported with file and line, and the rest is stored. See docs/import.md.`,
  examples: {
    'credence import chats': 'Stores the conversations of all agents on this machine, the newest first.',
    'credence import chats ~/.claude/projects --since 2026-01-01':
      'Stores the conversations of Claude Code since that day, each project in its scope.',
    'credence import chats chatgpt-export.zip --dry-run':
      'Counts the turns of an archive that would be stored, and lists unreadable input.',
  },
  async run({ args: { path }, options }, session) {
    if (path === undefined) {
      const histories = await importHistories(session, options)
      return importedText(histories, options, {}, await vectorNotes(session, options, histories))
    }
    const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    const files = listFilesAt(path, /\.(?:jsonl|json|zip)$|^opencode[\w.-]*\.db$/iu)
    const nameOf = (file: string): string => (isDirectory ? relative(path, file) : basename(file))
    const { signal } = session.program.interruption()
    const imported = await hearFiles(session, files, options, { nameOf, isDirectory, signal })
    const { kept, known, leftOut, problemCount } = imported.heard
    const isEmpty = kept + known + leftOut + problemCount === 0
    const empty = isEmpty ? [`${path} contains no turns.`] : []
    return importedText(imported, options, { file: path }, [
      ...empty,
      ...(await vectorNotes(session, options, imported)),
    ])
  },
})

async function vectorNotes(session: Session, options: ImportOptions, { heard }: Imported): Promise<readonly string[]> {
  if (options.dryRun === true || heard.wasInterrupted) return []
  const started = await startVectors(session, options)
  return started === 0 ? [] : [startedNote(started)]
}

type ImportOptions = LocationOptions & {
  readonly from?: ChatFormat | undefined
  readonly since?: string | undefined
  readonly dryRun?: boolean
  readonly as?: Author | undefined
}

type Imported = {
  readonly heard: ReturnType<typeof newHeardLines>
  /** The number of files that were read; `leftAlone` lists the skipped ones. */
  readonly files: number
  readonly leftAlone: readonly { readonly file: string; readonly reason: string }[]
}

type FilesRequest = {
  readonly nameOf: (file: string) => string
  /** Whether the files were found in a directory rather than named. Some may then be something other than chats. */
  readonly isDirectory: boolean
  readonly signal: AbortSignal
  /** Called after each file. Returning true ends the import. */
  readonly onFile?: (files: number, heard: Imported['heard']) => boolean
}

/** `remaining`: the number of files that were not read. */
type ImportedHistories = Imported & { readonly remaining: number }

/**
 * Imports the histories of the agents on this machine, the newest file first, and records the progress. With `maxTurns`, the
 * import stops after the file that reaches this number of stored turns.
 */
export async function importHistories(
  session: Session,
  options: ImportOptions,
  maxTurns = Number.POSITIVE_INFINITY,
): Promise<ImportedHistories> {
  const files = listNewestFirst(findHistories(session.program.machine))
  // Handles interrupts before taking the lock: otherwise an interrupt in between would leave the lock behind.
  const { signal } = session.program.interruption()
  const request = { nameOf: (file: string) => file, isDirectory: true, signal }
  if (options.dryRun === true) return { ...(await hearFiles(session, files, options, request)), remaining: 0 }
  const { dir } = session.places.locate(options)
  await session.memories.writing(options)
  const release = await lockImport(dir)
  try {
    // Known turns count too, because the background process of an import also reads the turns that were stored before it.
    const note = (outcome: 'stopped' | 'done', done: number, { kept, known }: Imported['heard']): void =>
      noteImport(dir, { outcome, files: done, total: files.length, turns: kept + known })
    const onFile = (done: number, heard: Imported['heard']): boolean => {
      note('stopped', done, heard)
      return heard.kept >= maxTurns
    }
    const imported = await hearFiles(session, files, options, { ...request, onFile })
    const done = imported.files + imported.leftAlone.length
    if (done === files.length && !imported.heard.wasInterrupted) note('done', done, imported.heard)
    return { ...imported, remaining: files.length - done }
  } finally {
    release()
  }
}

async function hearFiles(
  session: Session,
  files: readonly string[],
  options: ImportOptions,
  { nameOf, isDirectory, signal, onFile = () => false }: FilesRequest,
): Promise<Imported> {
  const total = files.reduce((sum, file) => sum + statSync(file).size, 0)
  const { dryRun = false, since } = options
  const { maxTurnCharacters } = session.places.settings(options)
  const scopesOf = scopesByDirectory(session, options)
  const heard = newHeardLines()
  const leftAlone: { readonly file: string; readonly reason: string }[] = []
  let read = 0
  let before = 0
  await session.terminal.withProgress(async (bar) => {
    const memory = await (dryRun ? session.memories.reading(options) : session.memories.writing(options))
    for (const file of files) {
      const source = nameOf(file)
      const items = itemsIn(file, options.from, isDirectory)
      if (items === null) {
        // A named file must contain chats; a directory may also contain other files.
        if (!isDirectory) throw unknownFormat(file)
        const wrong = jsonProblem(file)
        if (wrong === null) leftAlone.push({ file: source, reason: 'its format is unknown' })
        // Damaged files are listed first.
        else leftAlone.unshift({ file: source, reason: `not valid JSON: ${wrong}` })
        continue
      }
      const onProgress = (bytes: number): void => {
        const seen = heard.kept + heard.known + heard.leftOut
        bar.show(`MB, ${seen} turns`, megabytes(before + bytes), megabytes(total))
      }
      const request = { defaults: { host: 'import' }, learn: 'review', dryRun, maxTurnCharacters } as const
      await hearLines(memory, items, heard, { ...request, source, scopesOf, since, signal, onProgress })
      before += statSync(file).size
      read += 1
      if (signal.aborted || onFile(read + leftAlone.length, heard)) break
    }
  })
  return { heard, files: read, leftAlone }
}

function importedText(
  { heard, files, leftAlone }: Imported,
  { dryRun = false }: ImportOptions,
  document: object = {},
  more: readonly string[] = [],
) {
  const answer = heardLinesAnswer(heard, dryRun)
  const isNoted = leftAlone.length > 0 && !heard.wasInterrupted
  return {
    document: { ...document, files, leftAlone, dryRun, ...heard },
    ...answer,
    notes: [
      ...answer.notes,
      isNoted && `${pluralize(leftAlone.length, 'file')} skipped.`,
      isNoted && leftAlone.slice(0, maxNamed).map(({ file, reason }) => `  ${file}: ${reason}`),
      isNoted && leftAlone.length > maxNamed && `  and ${pluralize(leftAlone.length - maxNamed, 'more file')}`,
      heard.wasInterrupted && 'Interrupted. The turns stored so far are kept; run the import again to continue.',
      heard.learnedCount > 0 && !dryRun && 'Review what was found with `credence review`.',
      ...more,
    ],
  }
}

/** Null if the format of the file is unknown. */
function itemsIn(file: string, given: ChatFormat | undefined, isDirectory: boolean): AsyncIterable<ChatItem> | null {
  const found = recogniseChats(file)
  if (given !== undefined && found !== 'zip') return readChats(file, given)
  if (found !== null && found !== 'damaged') return readChats(file, found)
  // In a file of turns, unreadable lines are reported one by one.
  const isMeant = /\.jsonl$/iu.test(file) && (found === 'damaged' || !isDirectory)
  return isMeant || statSync(file).size === 0 ? readChats(file, 'jsonl') : null
}

/** Max skipped files to list. */
const maxNamed = 5
/** Larger files are not parsed just to report an error in them. */
const maxCheckedBytes = 64 * 1024 * 1024

/** The syntax error of a `.json` file, with its position; null if the file is valid JSON or JSON Lines. */
function jsonProblem(file: string): string | null {
  if (!/\.json$/iu.test(file) || statSync(file).size > maxCheckedBytes) return null
  try {
    JSON.parse(readFileSync(file, 'utf8'))
    return null
  } catch (error) {
    return (error as Error).message.replace(/\s+/gu, ' ')
  }
}

function unknownFormat(file: string): MemoryError {
  const wrong = jsonProblem(file)
  return wrong === null
    ? invalid(`The format of ${file} is unknown.`, `Give the format with --from: ${chatFormats.join(', ')}.`)
    : invalid(`${file} is not valid JSON: ${wrong}.`, 'Correct the file, or export the conversations again.')
}

/**
 * Finds the scopes for turns from a directory, as if the program ran there: those of its repository or `.credence.json`. A
 * missing directory gets its own scope, because its repository is unknown and its turns must not reach other projects.
 * Turns without a directory go to `user:universal`. Null for excluded directories.
 */
function scopesByDirectory(session: Session, options: LocationOptions) {
  const { dir } = session.places.locate(options)
  const { excludedDirectories } = session.places.settings(options)
  const given = options.scope ?? []
  const known = new Map<string, readonly string[] | null>()
  const find = (directory: string): readonly string[] | null => {
    if (excludedDirectories.some((excluded) => isWithin(directory, excluded))) return null
    if (given.length > 0) return given
    if (existsSync(directory))
      return session.places.inDirectory(directory).places.locate({ dir, user: options.user }).homeScopes
    const hash = createHash('sha256').update(directory).digest('hex').slice(0, 8)
    return [`project:${slug(basename(directory))}-${hash}`]
  }
  return (directory: string | null) => {
    if (directory === null) return given.length > 0 ? given : [universalScope]
    const found = known.has(directory) ? (known.get(directory) ?? null) : find(directory)
    known.set(directory, found)
    return found
  }
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1_000_000)
