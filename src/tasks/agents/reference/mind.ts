import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Belief, isCurrent } from '../../../beliefs/belief.ts'
import { asNewExtractor, type Extraction, type Refusal } from '../../../memory/learn/for-reference-agent.ts'
import type { Memory } from '../../../memory/memory.ts'
import type { Ask } from './asks.ts'
import { findAbout, findAnswer } from './find-answer.ts'
import { hearing } from './hearing.ts'
import { leftOut } from './left-out.ts'
import { filesNamedIn, filesToWrite } from './named-files.ts'
import { withoutOldValue } from './old-value.ts'
import { readNotes } from './read-notes.ts'
import { answers, bareAnswers, bareList, confirmation, everythingKnown, type Kept, type Placed } from './reply.ts'
import { type ParsedStatement, parseStatements, type Statement } from './statement.ts'
import type { Steps } from './steps.ts'
import type { Thread } from './thread.ts'
import { readText, writeText } from './workspace-text.ts'

/** What became of what was told. */
type Heard = { readonly kept: readonly Kept[]; readonly refused: readonly Refusal[] }

/** The memory of a workspace and the file people read it in, by their paths in the workspace. */
export const memoryDirectory = 'memory'
const memoryFile = 'memory/MEMORY.md'
/** Where others keep such a file. */
const otherMemoryFiles: readonly string[] = ['MEMORY.md', 'memory.md', 'memory/memory.md']

const mostBeliefs = 5_000

/** One turn's work with the memory and the workspace. */
export class Mind {
  readonly #workspace: string
  readonly #memory: Memory | null
  readonly #steps: Steps
  readonly #signal: AbortSignal

  constructor(workspace: string, memory: Memory | null, steps: Steps, signal: AbortSignal) {
    this.#workspace = workspace
    this.#memory = memory
    this.#steps = steps
    this.#signal = signal
  }

  /** Takes in what is told. Of a list that is to be kept, every item is. */
  async learn(prompt: string, heard: Extraction, earlier: readonly string[]): Promise<Heard> {
    this.#signal.throwIfAborted()
    const memory = this.#memory
    if (memory === null) return { kept: [], refused: heard.refused }
    const { taken, refused } = await memory.learn(prompt, {
      earlier,
      extractor: asNewExtractor(hearing),
      signal: this.#signal,
    })
    const kept: Kept[] = []
    for (const { belief, outcome, because } of taken) {
      kept.push({ belief, outcome: outcome === 'confirmed' || outcome === 'candidate' ? 'remembered' : outcome })
      await this.#remembered(belief, `${outcome} ${belief.id} in ${belief.scopes.join(', ')}. ${because}`)
    }
    for (const item of leftOut(prompt, heard)) {
      const { belief, outcome } = await memory.remember(item)
      kept.push({ belief, outcome })
      await this.#remembered(belief, `${outcome} ${belief.id} in ${belief.scopes.join(', ')}, as it stands.`)
    }
    return { kept, refused }
  }

  #remembered({ name, content }: Belief, text: string): Promise<null> {
    return this.#steps.use('memory_remember', { name, content }, async () => ({ value: null, text }))
  }

  /** Says what was kept, having looked that it is in the file, and what was not kept because nobody wanted it kept. */
  async tell({ kept, refused }: Heard): Promise<string> {
    const parts: string[] = []
    if (kept.length > 0) {
      const file = await this.#read(memoryFile)
      // What was put right by a later sentence of the same prompt is no longer in the file.
      const inFile = file === null ? [] : kept.filter(({ belief }) => file.includes(belief.id))
      parts.push(inFile.length === 0 ? confirmation(kept, null) : confirmation(inFile, memoryFile))
    }
    const unwanted = refused.filter(({ reason }) => reason === 'do_not_store').length
    if (unwanted > 0) parts.push('What you asked me to leave out is left out: nothing of it is in memory.')
    if (refused.some(({ reason }) => reason === 'secret')) {
      parts.push('What looks like a key or password is left out: a file that anybody can read is no place for it.')
    }
    return parts.join('\n\n')
  }

  async answer(
    prompt: string,
    asks: readonly Ask[],
    before: Thread | null,
  ): Promise<{ readonly text: string; readonly found: readonly Placed[]; readonly thread: Thread | null }> {
    if (asks.length === 0) return { text: '', found: [], thread: before }
    const parsedStatements = parseStatements(await this.#everything(prompt))
    const found: Placed[] = []
    const parts: string[] = []
    let thread = before
    for (const ask of asks) {
      this.#signal.throwIfAborted()
      if (ask.kind === 'question') {
        const preferred = await this.#lookUp(ask.text)
        const one = findAnswer(ask.text, {
          parsedStatements,
          thread,
          preferred,
          goesOn: ask.goesOn,
          isShort: ask.text.length > ask.said.length + 1,
        })
        found.push({ ...one, place: ask.place, label: ask.label, question: ask.said })
        thread = one.thread
      } else if (ask.kind === 'everything') {
        const all =
          ask.about === null
            ? parsedStatements.map(({ statement }) => statement)
            : findAbout(ask.about, parsedStatements)
        parts.push(everythingKnown(all, ask.about))
      } else parts.push(await this.#forget(ask.about, parsedStatements))
    }
    return {
      text: [found.length === 0 ? '' : answers(found), ...parts].filter((part) => part !== '').join('\n\n'),
      found,
      thread,
    }
  }

  /** Puts answers, or else what was told, into the files that were asked for. */
  async writeFiles(
    prompt: string,
    { found, learned }: { readonly found: readonly Placed[]; readonly learned: Heard },
  ): Promise<string> {
    const said: string[] = []
    for (const path of filesToWrite(prompt).filter((name) => name !== memoryFile)) {
      const told = learned.kept.map(({ belief }) => belief.content)
      const text = found.length > 0 ? bareAnswers(found) : told.length > 0 ? bareList(told) : null
      if (text === null) continue
      const isWritten = await this.#steps.use('write_file', { path, content: text }, async () => {
        const value = await writeText(this.#workspace, path, text)
        return { value, text: value ? `Wrote ${path}.` : `${path} is not in the workspace.`, isError: !value }
      })
      if (isWritten) said.push(`I have written this to ${path}.`)
    }
    return said.join('\n')
  }

  /** All that was told: what the memory holds, and what stands in the files besides. */
  async #everything(prompt: string): Promise<readonly Statement[]> {
    const file = await this.#read(memoryFile)
    const beliefs = await this.#beliefs()
    const known = new Set(beliefs.map(({ id }) => id))
    const corrections = await this.#corrections()
    const remembered = beliefs.map(
      ({ id, name, aliases, content }, order): Statement => ({
        id,
        text: corrections.has(id) ? withoutOldValue(content) : content,
        handles: [name, ...aliases],
        file: null,
        order,
      }),
    )
    const texts = new Set(beliefs.map(({ content }) => content))
    const notes = [
      ...(file === null ? [] : [{ path: memoryFile, text: file }]),
      ...(await this.#namedFiles(prompt, file !== null)),
    ]
    const noted = notes.flatMap(({ path, text }) => readNotes(path, text, (id) => known.has(id)))
    return [...remembered, ...noted.filter(({ text }) => !texts.has(text))]
  }

  async #namedFiles(
    prompt: string,
    hasMemoryFile: boolean,
  ): Promise<readonly { readonly path: string; readonly text: string }[]> {
    const wanted = [...filesNamedIn(prompt), ...(hasMemoryFile ? [] : otherMemoryFiles)]
    const found: { path: string; text: string }[] = []
    for (const path of new Set(wanted.filter((name) => name !== memoryFile))) {
      if (!existsSync(join(this.#workspace, path))) continue
      const text = await this.#read(path)
      if (text !== null) found.push({ path, text })
    }
    return found
  }

  #read(path: string): Promise<string | null> {
    return this.#steps.use('read_file', { path }, async () => {
      const value = await readText(this.#workspace, path)
      return value === null ? { value, text: `There is no file ${path}.`, isError: true } : { value, text: value }
    })
  }

  /** In the order they were told. */
  async #beliefs(): Promise<readonly Belief[]> {
    if (this.#memory === null) return []
    const all: Belief[] = []
    for (;;) {
      const { items, total } = await this.#memory.list({ current: true, limit: 1_000, offset: all.length })
      all.push(...items)
      if (items.length === 0 || all.length >= Math.min(total, mostBeliefs)) break
    }
    return all
      .filter(isCurrent)
      .toReversed()
      .toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : one.createdAt > other.createdAt ? 1 : 0))
  }

  /** Ids of beliefs that took the place of another. */
  async #corrections(): Promise<ReadonlySet<string>> {
    if (this.#memory === null) return new Set()
    const { items } = await this.#memory.list({ current: false, limit: 1_000 })
    return new Set(items.flatMap(({ supersededBy }) => (supersededBy === null ? [] : [supersededBy])))
  }

  /** Asks the memory, and says which beliefs it brings up by name. */
  async #lookUp(question: string): Promise<ReadonlySet<string>> {
    const memory = this.#memory
    if (memory === null) return new Set()
    return this.#steps.use('memory_search', { query: question }, async () => {
      const { relevant } = await memory.recall(question)
      const { beliefs: hits } = await memory.search(question, { limit: 10 })
      const ids = new Set(relevant.map(({ belief }) => belief.id))
      const beliefs = new Map([...relevant, ...hits].map(({ belief }) => [belief.id, belief]))
      const lines = [...beliefs.values()].map(({ id, name, content }) => `${id} ${name}: ${content}`)
      return { value: ids, text: lines.length === 0 ? 'Nothing found.' : lines.join('\n') }
    })
  }

  /** Forgets all that was told about something, and says what it was: nothing goes without a word. */
  async #forget(about: string, parsedStatements: readonly ParsedStatement[]): Promise<string> {
    const memory = this.#memory
    const speaking = findAbout(about, parsedStatements)
    const { statements } = findAnswer(about, { parsedStatements, thread: null, preferred: new Set() })
    const meant = (speaking.length > 0 ? speaking : statements.slice(0, 1)).filter(({ file }) => file === null)
    if (memory === null || meant.length === 0) return `I know nothing about ${about} that I could forget.`
    for (const { id } of meant) {
      await this.#steps.use('memory_forget', { id }, async () => {
        await memory.forget(id, { wholeChain: true })
        return { value: null, text: `Forgot ${id}.` }
      })
    }
    return meant.length === 1
      ? `I have forgotten what you told me about ${about}.`
      : `I have forgotten what you told me about ${about}: ${meant.length} statements.`
  }
}
