import type { MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory'
import type { Belief } from '../beliefs/belief.ts'
import { nameKey } from '../beliefs/identity.ts'
import type { Turn } from '../beliefs/turn.ts'
import { expectedError } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import { visibleText } from '../memory/recall/render.ts'
import { type AgentMemoryOptions, openForAgent } from './agent-memory.ts'

const root = '/memories'
/** Conversations are read-only files in this directory. */
const conversations = `${root}/conversations`
const maxListed = 200
const maxTurns = 200

/**
 * Handlers for Anthropic's memory tool (`memory_20250818`), for `betaMemoryTool` of its SDK. A file is a belief named after
 * its path. The model writes with an agent's authority: the history has every edit, and changes to a person's belief wait
 * for review.
 */
export function memoryHandlers(options: AgentMemoryOptions): MemoryToolHandlers & { close: () => Promise<void> } {
  const { agent: memory, home, close } = openForAgent(options)
  return {
    view: ({ path, view_range: range }) => answerModel(async () => viewPath(memory, requireMemoryPath(path), range)),
    create: ({ path, file_text: content }) =>
      answerModel(async () => {
        const { name, sourceId } = newFile(path)
        if ((await findFile(memory, sourceId)) !== null) throw new Error(`File ${path} already exists`)
        const { outcome } = await memory.remember({ name, content, sourceId, scopes: home })
        return outcome === 'proposed' ? waitingMessage(path) : `File created successfully at: ${path}`
      }),
    str_replace: ({ path, old_str: old, new_str: next }) =>
      answerModel(async () => {
        const belief = await requireFile(memory, path)
        const before = belief.content.split(old)
        if (old === '' || before.length === 1)
          throw new Error(`No replacement was performed, old_str \`${old}\` did not appear verbatim in ${path}.`)
        if (before.length > 2) {
          const lines = before.slice(0, -1).map((_, place) => countLines(before.slice(0, place + 1).join(old)))
          const where = `old_str \`${old}\` in lines: ${lines.join(', ')}. Please ensure it is unique`
          throw new Error(`No replacement was performed. Multiple occurrences of ${where}`)
        }
        const done = 'The memory file has been edited.'
        return rewriteFile(memory, belief, { path, content: before.join(next), done })
      }),
    insert: ({ path, insert_line: place, insert_text: text }) =>
      answerModel(async () => {
        const belief = await requireFile(memory, path)
        const lines = belief.content.split('\n')
        if (place < 0 || place > lines.length)
          throw new Error(
            `Invalid \`insert_line\` parameter: ${place}. It should be within the range of lines of the file: [0, ${lines.length}]`,
          )
        const content = lines.toSpliced(place, 0, text.replace(/\n$/u, '')).join('\n')
        return rewriteFile(memory, belief, { path, content, done: `The file ${path} has been edited.` })
      }),
    delete: ({ path }) =>
      answerModel(async () => {
        const found = await findFilesBelow(memory, writablePath(path))
        if (found.length === 0) throw pathError(path)
        for (const { id } of found) await memory.forget(id)
        return `Successfully deleted ${path}`
      }),
    rename: ({ old_path: from, new_path: to }) =>
      answerModel(async () => {
        const belief = await requireFile(memory, from)
        const { name, sourceId } = newFile(to)
        if ((await findFile(memory, sourceId)) !== null) throw new Error(`The destination ${to} already exists`)
        const { outcome } = await memory.correct(belief.id, { content: belief.content, name, sourceId })
        return outcome === 'proposed' ? waitingMessage(from) : `Successfully renamed ${from} to ${to}`
      }),
    close,
  }
}

/** Returns the answer, or throws an error whose message includes the hint, because the SDK shows the message to the model. */
async function answerModel(answer: () => Promise<string>): Promise<string> {
  try {
    return visibleText(await answer())
  } catch (error) {
    const expected = expectedError(error)
    if (expected === null) throw error
    throw new Error(visibleText([expected.message, expected.hint].filter((text) => text !== undefined).join(' ')))
  }
}

async function viewPath(memory: Memory, path: string, range: readonly number[] | undefined): Promise<string> {
  const session = path.startsWith(`${conversations}/`) ? sessionOf(path) : null
  const text = session === null ? (await findFile(memory, path))?.content : await sessionTranscript(memory, session)
  return text === undefined || text === null ? listDirectory(memory, path) : numberLines(path, text, range)
}

async function listDirectory(memory: Memory, path: string): Promise<string> {
  const sessions = await memory.conversations({ limit: maxListed })
  const { items, total } = await memory.list({ current: true, limit: maxListed })
  const files = [
    ...items.map((belief) => ({ path: pathOf(belief), size: belief.content.length })),
    ...sessions.items.map(({ session, turns }) => ({
      path: `${conversations}/${encodeURIComponent(session)}`,
      size: turns,
    })),
  ].filter((file) => path === root || file.path.startsWith(`${path}/`))
  if (files.length === 0 && path !== root && path !== conversations) throw pathError(path)
  const left = total + sessions.total - items.length - sessions.items.length
  return [
    `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`,
    `${files.reduce((sum, { size }) => sum + size, 0)}\t${path}`,
    ...files.map((file) => `${file.size}\t${file.path}`).sort(),
    ...(left > 0 ? [`(${left} older files are not listed; view them by path)`] : []),
  ].join('\n')
}

/** A conversation as text; null if there is none. */
async function sessionTranscript(memory: Memory, session: string): Promise<string | null> {
  const { items } = await memory.turns({ session, limit: maxTurns })
  const line = ({ at, speaker, role, text }: Turn): string => `${at.slice(0, 16)} ${speaker ?? role}: ${text}`
  return items.length === 0 ? null : items.map(line).join('\n')
}

function numberLines(path: string, text: string, [first = 1, last = -1]: readonly number[] = []): string {
  const lines = text.split('\n')
  const start = Math.max(1, first)
  const shown = lines.slice(start - 1, last === -1 ? lines.length : last)
  const rows = shown.map((line, place) => `${String(start + place).padStart(6)}\t${line}`)
  return `Here's the content of ${path} with line numbers:\n${rows.join('\n')}`
}

type Rewrite = { readonly path: string; readonly content: string; readonly done: string }

async function rewriteFile(memory: Memory, belief: Belief, { path, content, done }: Rewrite): Promise<string> {
  const { outcome } = await memory.correct(belief.id, {
    content,
    sourceId: pathOf(belief),
    expectedVersion: belief.version,
  })
  return outcome === 'proposed' ? waitingMessage(path) : done
}

const waitingMessage = (path: string): string =>
  `${path} is the person's own statement. The change waits for their review; until then the file is unchanged.`
const pathError = (path: string): Error => new Error(`The path ${path} does not exist. Please provide a valid path.`)
const countLines = (text: string): number => text.split('\n').length

/** Throws for a path outside of `/memories`. */
function requireMemoryPath(path: string): string {
  const parts = path.replace(/(?<!\/)\/+$/u, '').split('/')
  if (parts.slice(0, 2).join('/') !== root) throw new Error(`Path must start with ${root}, got: ${path}`)
  if (parts.some((part) => part === '..' || part === '.'))
    throw new Error(`Path ${path} would escape ${root} directory`)
  return parts.join('/')
}

function writablePath(given: string): string {
  const path = requireMemoryPath(given)
  if (path === root) throw new Error(`Cannot change the ${root} directory itself`)
  if (path !== conversations && !path.startsWith(`${conversations}/`)) return path
  throw new Error(`${conversations} contains earlier conversations, which can only be read.`)
}

const extension = /\.(?:md|txt|xml|json)$/iu

const beliefNameAt = (path: string): string =>
  path
    .slice(root.length + 1)
    .replace(extension, '')
    .replace(/[/_-]+/gu, ' ')
    .trim()

function newFile(given: string): { readonly name: string; readonly sourceId: string } {
  const sourceId = writablePath(given)
  return { name: beliefNameAt(sourceId), sourceId }
}

const sessionOf = (path: string): string => decodeURIComponent(path.slice(conversations.length + 1))

/** The path with which a belief was created; for other beliefs, a path derived from the name. */
const pathOf = ({ name, provenance: { sourceId } }: Belief): string =>
  sourceId?.startsWith(`${root}/`) === true ? sourceId : `${root}/${name.replace(/[\s/]+/gu, '-')}.md`

async function findFile(memory: Memory, path: string): Promise<Belief | null> {
  const key = nameKey(beliefNameAt(path))
  if (key === '') return null
  const { items } = await memory.find(beliefNameAt(path), { current: true, limit: maxListed })
  const named = items.map(({ belief }) => belief).filter((belief) => nameKey(beliefNameAt(pathOf(belief))) === key)
  return named.find((belief) => pathOf(belief) === path) ?? named[0] ?? null
}

async function requireFile(memory: Memory, given: string): Promise<Belief> {
  const belief = await findFile(memory, writablePath(given))
  if (belief === null) throw pathError(given)
  return belief
}

/** The file at a path, or all files of a directory. */
async function findFilesBelow(memory: Memory, path: string): Promise<readonly Belief[]> {
  const file = await findFile(memory, path)
  if (file !== null) return [file]
  const below: Belief[] = []
  for await (const belief of memory.export({ current: true }))
    if (pathOf(belief).startsWith(`${path}/`)) below.push(belief)
  return below
}
