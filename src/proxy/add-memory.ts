import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseScopes } from '../beliefs/scope.ts'
import { expectedError, invalid } from '../errors.ts'
import { parseObject } from '../json.ts'
import type { HeardTurn } from '../memory/conversation/hear.ts'
import { offTheRecord } from '../memory/learn/rules.ts'
import { renderContext, type ShownContext } from '../memory/recall/render.ts'
import { Conversations, type Placed, type Talk } from './conversations.ts'
import type { Answer, Dialect } from './dialects.ts'
import { JsonSpans, withInsertions } from './json-spans.ts'

export type View = {
  readonly user: string
  readonly scopes: readonly string[]
  /** Where turns and beliefs are written to. */
  readonly homeScopes: readonly string[]
}

/** The memory behind the proxy. It may be slow or fail: requests go on without it. */
export type ProxyMemory = {
  readonly recall: (view: View, message: string) => Promise<ShownContext>
  readonly keep: (view: View, turns: readonly HeardTurn[]) => Promise<void>
}

export type MemoryDeps = {
  readonly memory: ProxyMemory
  /** The view of requests that name no other in their headers. */
  readonly view: View
  /** Whether nothing is to be kept at the moment. */
  readonly isPaused: () => boolean
  readonly deadlineMs: number
  readonly now: () => Date
  readonly log: (line: string) => void
}

/** A request as it is sent on, what the client is told about it, and what is to be done with its answer. */
export type Prepared = {
  readonly body: Buffer
  /** The value of the header `x-credence-memory`. */
  readonly outcome: string
  readonly onAnswer: (answer: Answer) => void
}

/** In longer messages, which are pastes, only the beginning and the end are searched. */
const longestMessage = 32_000
/** Hosts and models lose sight of longer context. */
export const proxyBudget = { maxPrelude: 2_000, maxCharacters: 6_000 }

/** Adds what is remembered to requests, and keeps what is said in them. */
export class MemoryLane {
  readonly #deps: MemoryDeps
  readonly #conversations = new Conversations()
  #keeping: Promise<void> = Promise.resolve()

  constructor(deps: MemoryDeps) {
    this.#deps = deps
  }

  /** The view that the headers of a request ask for. Throws a MemoryError for a scope or user that is none. */
  viewOf(user: string | undefined, scope: string | undefined): View {
    const { view } = this.#deps
    if (user !== undefined && (user.trim() === '' || user.length > 200))
      throw invalid(
        'The header x-credence-user is empty or too long.',
        'Name a user with at most 200 characters, or leave the header out.',
      )
    const scopes = scope === undefined ? null : parseScopes(scope.split(',').map((one) => one.trim()))
    return {
      user: user?.trim() ?? view.user,
      scopes: scopes ?? view.scopes,
      homeScopes: scopes ?? view.homeScopes,
    }
  }

  /** The request with blocks of memory in it. It is sent on as it is where that is not possible, and never fails. */
  async prepare(dialect: Dialect, bytes: Buffer, view: View): Promise<Prepared> {
    const asItIs = (reason: string): Prepared => ({ body: bytes, outcome: `none; ${reason}`, onAnswer: () => {} })
    const body = parseObject(bytes.toString('utf8'))
    // The service says what is wrong with it.
    if (body === null) return asItIs('the body is not a JSON object')
    const spans = new JsonSpans(bytes.toString('latin1'))
    const conversation = dialect.read(body, spans)
    const placed = conversation === null ? null : this.#conversations.place(JSON.stringify(view), conversation)
    if (placed === null) return asItIs('no message of a person')
    const problem = await this.#recall(view, placed)
    const { talk, said, current } = placed
    const blocks = said.flatMap(({ key, message }) => {
      const block = talk.blocks.get(key)
      return block === undefined || message.insert === null ? [] : message.insert(block)
    })
    const isAdded = current.some(({ key }) => talk.blocks.has(key))
    this.#keepSaid(view, placed)
    return {
      body: blocks.length === 0 ? bytes : withInsertions(bytes, blocks),
      outcome: problem === null ? (isAdded ? 'added' : 'none; nothing to add') : `skipped; ${problem}`,
      onAnswer: (answer) => {
        placed.answered(answer)
        this.#keepAnswer(view, placed, answer)
      },
    }
  }

  /** Settles when everything that was said so far has been kept. */
  settled(): Promise<void> {
    return this.#keeping
  }

  /**
   * Recalls for the message that is being answered, once: a client that sends it again, with results of tools or with the
   * next message, gets the same bytes, so that the service finds them in its cache. Returns why nothing was recalled.
   */
  async #recall(view: View, { talk, current }: Placed): Promise<string | null> {
    const last = current.at(-1)
    if (last === undefined || talk.blocks.has(last.key)) return null
    const { memory, deadlineMs, log } = this.#deps
    const message = current.map(({ message: { text } }) => text).join('\n\n')
    const skipped = (reason: string): string => {
      log(`The request went on without memory: ${reason}.`)
      return reason
    }
    try {
      const context = await inTime(deadlineMs, memory.recall(view, shortened(message)))
      if (context === null) return skipped(`no answer within ${deadlineMs} ms`)
      const block = renderContext(withoutShown(context, talk))
      if (block !== '') talk.blocks.set(last.key, block.trimEnd())
      return null
    } catch (error) {
      return skipped(failureOf(error))
    }
  }

  /** A message before the last one, or a text beside another, may be a document that the client has added. */
  #keepSaid(view: View, { talk, current }: Placed): void {
    const fresh = current.filter(({ key }) => !talk.kept.has(key))
    for (const { key } of fresh) talk.kept.add(key)
    const last = current.at(-1)
    this.#keep(
      view,
      talk,
      fresh.map(({ key, message: { text, isOne } }) => ({
        role: 'user',
        text,
        ...(key === last?.key && isOne ? {} : { origin: 'document' }),
      })),
    )
  }

  /** The answer to what asks not to be kept is not kept either. */
  #keepAnswer(view: View, { talk, current }: Placed, { text }: Answer): void {
    const key = `answer ${current.at(-1)?.key} ${text}`
    if (text.trim() === '' || talk.kept.has(key) || current.some(({ message }) => offTheRecord(message.text))) return
    talk.kept.add(key)
    this.#keep(view, talk, [{ role: 'assistant', text }])
  }

  /** One after the other, in the order in which they were said, while requests go on. */
  #keep(view: View, { session }: Talk, said: readonly Pick<HeardTurn, 'role' | 'text' | 'origin'>[]): void {
    const { memory, isPaused, now, log } = this.#deps
    const at = now().toISOString()
    const turns = said.map((turn) => ({ ...turn, at, session, host: 'proxy', messageId: randomUUID() }))
    if (turns.length === 0) return
    this.#keeping = this.#keeping
      .then(() => (isPaused() ? undefined : memory.keep(view, turns)))
      .catch((error: unknown) => log(`What was said was not kept: ${failureOf(error)}.`))
  }
}

const shortened = (message: string): string =>
  message.length <= longestMessage
    ? message
    : `${message.slice(0, longestMessage / 2)}\n${message.slice(-longestMessage / 2)}`.toWellFormed()

/** The parts of a context that the conversation has not shown yet. They count as shown from now on. */
function withoutShown(context: ShownContext, { session: own, shown }: Talk): ShownContext {
  const isNew = (key: string): boolean => {
    const known = shown.has(key)
    shown.add(key)
    return !known
  }
  const isNewBelief = ({ id, version }: { readonly id: string; readonly version: number }): boolean =>
    isNew(`${id} ${version}`)
  const lines = context.prelude?.text.split('\n').filter(isNew) ?? []
  return {
    ...context,
    prelude: context.prelude === null || lines.length === 0 ? null : { ...context.prelude, text: lines.join('\n') },
    pinned: context.pinned.filter(isNewBelief),
    relevant: context.relevant.filter(({ belief }) => isNewBelief(belief)),
    questions: context.questions.filter(isNewBelief),
    quotes: context.quotes.filter(({ turn, text, session }) => session !== own && isNew(`${turn} ${text}`)),
  }
}

/** Null where the value does not come in time. A failure that comes later has been reported as late. */
async function inTime<Value>(ms: number, value: Promise<Value>): Promise<Value | null> {
  const timer = new AbortController()
  const late = sleep(ms, null, { signal: timer.signal }).catch(() => null)
  return Promise.race([value, late]).finally(() => timer.abort())
}

/** The kind of an error. Its message may repeat what was said. */
const failureOf = (error: unknown): string => {
  const expected = expectedError(error)
  return expected === null ? 'the memory failed' : `the memory is ${expected.code}`
}
