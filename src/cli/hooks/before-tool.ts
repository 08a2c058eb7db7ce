import { basename, dirname, isAbsolute, relative } from 'node:path'
import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { visibleScopes } from '../../beliefs/scope.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { type JsonObject, parseObject } from '../../json.ts'
import { localDay } from '../../local-time.ts'
import type { Store } from '../../memory/ports.ts'
import { beliefLine, neutralize } from '../../memory/recall/render.ts'
import { questionWordsIn } from '../../search/searchable-text.ts'
import { termsIn } from '../../search/turns/strength.ts'
import { listFilesChangedSince } from './changed-files.ts'
import type { HookPayload } from './host-protocol.ts'
import { lastStepIn } from './transcript.ts'

/** What an agent is about to do. */
type ToolUse = { readonly kind: 'edit'; readonly file: string } | { readonly kind: 'command'; readonly command: string }

type ToolView = { readonly user: string; readonly scopes: readonly string[] }

export const maxToolLines = 2
/** Max beliefs, and max earlier steps, to compare with a tool use, starting with the newest. */
const maxCompared = 40
const maxErrorLength = 160
const maxDeeds = 3

/**
 * Lines for a tool use, the most useful first: how the last error was fixed before, beliefs about the file or its folders,
 * and the last failure of the same command.
 */
export async function recallBeforeTool(
  store: Store,
  { user, scopes }: ToolView,
  { tool, transcript, session, directory }: HookPayload,
): Promise<readonly string[]> {
  const use = tool === null ? null : toolUseIn(tool)
  if (use === null) return []
  const steps = new PastSteps(store, { user, scopes: visibleScopes(scopes) }, session)
  const lastError = transcript === null ? null : errorIn(lastStepIn(transcript)?.text ?? '')
  const fix = lastError === null ? null : await steps.fixOf(lastError)
  const about =
    use.kind === 'edit'
      ? await beliefsAbout(store, { user, scopes }, use.file, directory ?? '.')
      : await steps.failureOf(use.command)
  return [...(fix === null ? [] : [fix]), ...about]
}

/** Recognises an edit or a command by the input fields of the hosts' tools; null for other tools. */
function toolUseIn(tool: JsonObject): ToolUse | null {
  const command = commandOf(tool)
  const patched = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/mu.exec(command ?? '')?.[1]
  const file = patched ?? [tool.file_path, tool.notebook_path].find((value) => typeof value === 'string')
  if (typeof file === 'string') return { kind: 'edit', file: file.trim() }
  return command === null ? null : { kind: 'command', command }
}

/** The command of a shell tool. */
function commandOf({ command, cmd, input }: JsonObject): string | null {
  const given = command ?? cmd ?? input
  const last = Array.isArray(given) ? given.at(-1) : given
  return typeof last === 'string' && last.trim() !== '' ? last : null
}

/** Beliefs whose text contains the path or the name of a file, then those that contain one of its folders. */
async function beliefsAbout(store: Store, { user, scopes }: ToolView, file: string, directory: string) {
  const path = isAbsolute(file) ? relative(directory, file) : file
  if (path.startsWith('..')) return []
  const folders: string[] = []
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.push(`${folder}/`)
  const words = questionWordsIn([path, ...folders].join(' '))
  const view = { user, agent: null, scopes: visibleScopes(scopes) }
  const hits = await store.matchText({ ...view, words, includeRetired: false, limit: maxCompared })
  const found = await store.getMany(
    user,
    hits.map(({ beliefId }) => beliefId),
  )
  const textOf = ({ name, aliases, content, why }: Belief): string => [name, ...aliases, content, why].join('\n')
  const names = [path, basename(path), ...folders, ...folders.map((folder) => folder.slice(0, -1)).filter(hasSlash)]
  const rankOf = (belief: Belief): number => names.findIndex((name) => contains(textOf(belief), name))
  const about = found
    .filter((belief) => isCurrent(belief) && belief.type !== 'open_question' && rankOf(belief) >= 0)
    .sort((a, b) => rankOf(a) - rankOf(b) || b.provenance.at.localeCompare(a.provenance.at))
    .slice(0, maxToolLines)
  return Promise.all(
    about.map(async (belief) => {
      const changed = await listFilesChangedSince(directory, textOf(belief), belief.provenance.at)
      return beliefLine(belief, changed.length === 0 ? [] : [`${changed.join(', ')} changed since`])
    }),
  )
}

const hasSlash = (folder: string): boolean => folder.includes('/')

/** Whether a text contains a path that is not part of a longer word. */
function contains(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const isWhole =
      !/[\w-]/u.test(text[at - 1] ?? ' ') && (path.endsWith('/') || !/[\w-]/u.test(text[at + path.length] ?? ' '))
    if (isWhole) return true
  }
  return false
}

/** Tool steps of other conversations, in the format of hooks and imports: the call, a line break, the result. */
class PastSteps {
  readonly #store: Store
  readonly #view: ToolView
  readonly #session: string | null

  constructor(store: Store, view: ToolView, session: string | null) {
    this.#store = store
    this.#view = view
    this.#session = session
  }

  /** A line about the last run of the same command, if it failed. */
  async failureOf(command: string): Promise<readonly string[]> {
    const [last] = await this.#containing(JSON.stringify(command))
    const error = last === undefined ? null : errorIn(last.text)
    if (last === undefined || error === null) return []
    const day = localDay(last.at, last.utcOffset)
    const deeds = await this.#deedsAfter(last)
    return [
      `- This command failed on ${day} with "${neutralize(error)}"${deeds === '' ? '.' : `; it worked after ${deeds}.`}`,
    ]
  }

  /** The steps between an earlier occurrence of the error and the next success of the same command; null if there are none. */
  async fixOf(error: string): Promise<string | null> {
    for (const step of await this.#containing(error)) {
      const deeds = errorIn(step.text) === error ? await this.#deedsAfter(step) : ''
      if (deeds !== '')
        return `- The error "${neutralize(error)}" also came on ${localDay(step.at, step.utcOffset)}; it was gone after ${deeds}.`
    }
    return null
  }

  /** The newest steps that contain a text. */
  async #containing(text: string): Promise<readonly Turn[]> {
    const terms = [...termsIn(text)]
    const { terms: postings } = await this.#store.turnPostings(this.#view, terms)
    if (terms.length === 0 || postings.size < terms.length) return []
    const [rarest, ...others] = [...postings.values()].sort((a, b) => a.rows.length - b.rows.length)
    const sets = others.map(({ rows }) => new Set(rows))
    const rows = [...(rarest?.rows ?? [])].filter((row) => sets.every((set) => set.has(row)))
    const newest = rows.sort((a, b) => b - a).slice(0, maxCompared)
    const turns = new Set((await this.#store.turnsAt(this.#view.user, newest)).values())
    return [...turns]
      .filter((turn) => turn.role === 'tool' && turn.session !== this.#session && turn.text.includes(text))
      .sort((a, b) => b.at.localeCompare(a.at))
  }

  /** The last edits and commands between a failed command and its next success in the same conversation. */
  async #deedsAfter(failed: Turn): Promise<string> {
    const { user } = this.#view
    const { session, index, scope } = failed
    const page = { limit: maxCompared, offset: 0 }
    const { items } = await this.#store.listTurns(
      { user, session, scopes: [scope], roles: ['tool'], since: failed.at },
      page,
    )
    const command = calledCommand(failed.text)
    const after = items.filter((turn) => turn.index > index)
    const success = after.findIndex(({ text }) => calledCommand(text) === command && errorIn(text) === null)
    const deeds = after.slice(0, Math.max(0, success)).flatMap(({ text }) => {
      const use = toolUseIn(inputIn(text))
      if (use === null || (use.kind === 'command' && use.command === command) || errorIn(text) !== null) return []
      return use.kind === 'edit'
        ? [`an edit of ${neutralize(use.file)}`]
        : [`\`${neutralize(use.command).slice(0, maxErrorLength)}\``]
    })
    return [...new Set(deeds)].slice(-maxDeeds).join(', ')
  }
}

const inputIn = (step: string): JsonObject => {
  const [call = ''] = step.split('\n', 1)
  return parseObject(call.slice(call.indexOf(' ') + 1)) ?? {}
}

const calledCommand = (step: string): string | null => commandOf(inputIn(step))

/** "Exit code 1", "Process exited with code 1", "Exit code: 1", `"exit_code":1`. */
const failed = /^.{0,40}\bexit(?:ed with)?[ _]code"?:? ?[1-9]\d{0,2}\b.*$/imu
const maxStatusOffset = 300
const tellsError =
  /\b(?:\w*error|fail(?:ed|ure)?|\w*exception|cannot|can't|unable|denied|refused|undefined|unexpected|no such|not found)\b/iu

/** The line with the error of a failed command; null if the step is not a command or did not fail. */
function errorIn(step: string): string | null {
  const result = step.slice(step.indexOf('\n') + 1)
  const status = failed.exec(result.slice(0, maxStatusOffset))
  if (calledCommand(step) === null || status === null) return null
  const lines = result
    .slice(status.index + status[0].length)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /\p{L}{3}/u.test(line))
  const line = lines.find((one) => tellsError.test(one)) ?? lines[0] ?? status[0].trim()
  return line.slice(0, maxErrorLength)
}
