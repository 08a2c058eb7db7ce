import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseScopes } from '../beliefs/scope.ts'
import { expectedError, invalid } from '../errors.ts'
import { isObject } from '../json.ts'
import type { HeardTurn } from '../memory/conversation/hear.ts'
import { isOffTheRecord } from '../memory/learn/off-the-record.ts'
import { renderContext, type ShownContext } from '../memory/recall/render.ts'
import { RecentMap } from '../recent-map.ts'
import type { Dialect, HistoryMessage, ModelAnswer, RequestBody, RequestConversation } from './dialects.ts'

export type View = {
  readonly user: string
  readonly scopes: readonly string[]
  /** The scopes that new turns and beliefs get. */
  readonly homeScopes: readonly string[]
}

/** The memory of the proxy. If it is slow or fails, requests are forwarded without memory. */
export type ProxyMemory = {
  readonly recall: (view: View, message: string) => Promise<ShownContext>
  readonly keep: (view: View, turns: readonly HeardTurn[]) => Promise<void>
}

export type MemoryDeps = {
  readonly memory: ProxyMemory
  /** The default view, for requests whose headers select no other. */
  readonly view: View
  /** Whether storing is paused. */
  readonly isPaused: () => boolean
  readonly deadlineMs: number
  readonly now: () => Date
  readonly log: (line: string) => void
  /** The host of stored turns. Default `proxy`. */
  readonly host?: string
}

/** The result of adding memory to a conversation. */
export type WithMemory = {
  readonly isChanged: boolean
  /** The value of the header `x-credence-memory`. */
  readonly outcome: string
  /** Must be called when the answer has ended, even if it was cut off. */
  readonly onAnswer: (answer: ModelAnswer) => void
}

/** A request that is ready to be forwarded. */
export type Prepared = WithMemory & { readonly body: Buffer }

/** Limits of the added context, because hosts hide part of a longer one, and models overlook some of it. */
export const proxyBudget = { maxPrelude: 2_000, maxCharacters: 6_000 }

/** Adds recalled context to requests, and stores their messages as turns. */
export function memoryInjector({ memory, view: usual, isPaused, deadlineMs, now, log, host = 'proxy' }: MemoryDeps) {
  const tracker = new ConversationTracker(host)
  let keeping: Promise<void> = Promise.resolve()

  /** The view selected by the headers of a request. Throws a MemoryError if the scope or user is invalid. */
  function viewOf(user: string | undefined, scope: string | undefined): View {
    if (user !== undefined && (user.trim() === '' || user.length > 200))
      throw invalid(
        'The header x-credence-user is empty or too long.',
        'Name a user with at most 200 characters, or leave the header out.',
      )
    const scopes = scope === undefined ? null : parseScopes(scope.split(',').map((name) => name.trim()))
    return {
      user: user?.trim() ?? usual.user,
      scopes: scopes ?? usual.scopes,
      homeScopes: scopes ?? usual.homeScopes,
    }
  }

  /** Adds blocks of memory to a request. Returns the request unchanged if that is not possible; never fails. */
  async function prepare(dialect: Dialect, bytes: Buffer, view: View): Promise<Prepared> {
    const passOn = (reason: string): Prepared => ({
      body: bytes,
      isChanged: false,
      outcome: `none; ${reason}`,
      onAnswer: () => {},
    })
    const body = parseBody(bytes.toString('utf8'))
    // Forwards the body anyway, because the service reports the error in it.
    if (body === null) return passOn('the body is not a JSON object')
    const read = dialect.read(body)
    const added = read === null ? null : await addTo(read, view)
    if (added === null) return passOn('no message of a person')
    return { ...added, body: added.isChanged ? Buffer.from(JSON.stringify(body)) : bytes }
  }

  /** Adds blocks of memory to the messages of a conversation. Null if it has no message by a person. Never fails. */
  async function addTo(read: RequestConversation, view: View = usual): Promise<WithMemory | null> {
    const request = tracker.identify(JSON.stringify(view), read)
    if (request === null) return null
    const problem = await recall(view, request)
    const { blocks } = request.conversation
    const shown = request.said.filter(({ key }) => blocks.has(key))
    for (const { key, message } of shown) message.add(blocks.get(key) as string)
    const isAdded = request.current.some(({ key }) => blocks.has(key))
    keepSaid(view, request)
    return {
      isChanged: shown.length > 0,
      outcome: problem === null ? (isAdded ? 'added' : 'none; nothing to add') : `skipped; ${problem}`,
      onAnswer: (answer) => {
        request.onResponse(answer)
        keepAnswer(view, request, answer)
      },
    }
  }

  /**
   * Recalls for the current message, once. If the client sends the message again, with tool results or with the next message, the same
   * bytes are added, so that the service's prompt cache still matches. Returns why recall was skipped; null if it was not.
   */
  async function recall(view: View, { conversation, current }: PlacedRequest): Promise<string | null> {
    const last = current.at(-1)
    if (last === undefined || conversation.blocks.has(last.key)) return null
    const message = current.map(({ message: { text } }) => text).join('\n\n')
    const skipped = (reason: string): string => {
      log(`The request was forwarded without memory: ${reason}.`)
      return reason
    }
    try {
      const context = await waitAtMost(deadlineMs, memory.recall(view, message))
      if (context === null) return skipped(`no answer within ${deadlineMs} ms`)
      const block = renderContext(withoutShown(context, conversation))
      if (block !== '') conversation.blocks.set(last.key, block.trimEnd())
      return null
    } catch (error) {
      return skipped(failureOf(error))
    }
  }

  /** Stores the person's messages: the last one as their own words if they typed it, the rest as documents. */
  function keepSaid(view: View, { conversation, current }: PlacedRequest): void {
    const fresh = current.filter(({ key }) => !conversation.kept.has(key))
    for (const { key } of fresh) conversation.kept.add(key)
    const last = current.at(-1)
    keep(
      view,
      conversation,
      fresh.map(({ key, message: { text, isTyped, author } }) => {
        const isOwn = key === last?.key && isTyped && (author === null || author === view.user)
        return { role: 'user', text, ...(isOwn ? {} : { origin: 'document' }) }
      }),
    )
  }

  /** Stores the answer, unless the message itself must not be stored. */
  function keepAnswer(view: View, { conversation, current }: PlacedRequest, { text }: ModelAnswer): void {
    const key = `answer ${current.at(-1)?.key} ${text}`
    if (text.trim() === '' || conversation.kept.has(key) || current.some(({ message }) => isOffTheRecord(message.text)))
      return
    conversation.kept.add(key)
    keep(view, conversation, [{ role: 'assistant', text }])
  }

  /** Stores messages one by one, in order, without delaying requests. */
  function keep(
    view: View,
    { session }: TrackedConversation,
    said: readonly Pick<HeardTurn, 'role' | 'text' | 'origin'>[],
  ): void {
    const at = now().toISOString()
    const turns = said.map((turn) => ({ ...turn, at, session, host, messageId: randomUUID() }))
    if (turns.length === 0) return
    keeping = keeping
      .then(() => (isPaused() ? undefined : memory.keep(view, turns)))
      .catch((error: unknown) => log(`The message was not stored: ${failureOf(error)}.`))
  }

  return {
    viewOf,
    prepare,
    addTo,
    /** Resolves when all messages so far are stored. */
    settled: (): Promise<void> => keeping,
  }
}

/** Returns the parts of a context that are new in the conversation, and marks them as shown. */
function withoutShown(context: ShownContext, { session: own, shown }: TrackedConversation): ShownContext {
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
    perhaps: context.perhaps.filter(({ belief }) => isNewBelief(belief)),
  }
}

/** Parses a body; null if it is not a JSON object. Numbers keep their spelling when the body is serialized again. */
function parseBody(text: string): RequestBody | null {
  try {
    const body: unknown = JSON.parse(text, keepNumber)
    return isObject(body) ? body : null
  } catch {
    return null
  }
}

// TypeScript does not know JSON.rawJSON yet, but every supported version of Node has it.
const { rawJSON } = JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown }
const keepNumber = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? rawJSON(context.source)
    : value

/** Null on timeout. A later rejection is ignored, because the timeout was already reported. */
async function waitAtMost<Value>(ms: number, value: Promise<Value>): Promise<Value | null> {
  const timer = new AbortController()
  const late = sleep(ms, null, { signal: timer.signal }).catch(() => null)
  return Promise.race([value, late]).finally(() => timer.abort())
}

/** Describes an error without its message, which may contain text of the conversation. */
const failureOf = (error: unknown): string => {
  const expected = expectedError(error)
  return expected === null ? 'the memory failed' : `the memory is ${expected.code}`
}

/** One or more messages of the person, and the answer to them. */
type Exchange = ReturnType<typeof exchangesIn>[number]

type TrackedConversation = {
  /** The session of its stored turns. */
  readonly session: string
  /** The blocks that were added to its messages, by the key of the message. */
  readonly blocks: Map<string, string>
  /** The lines that its blocks already contain. */
  readonly shown: Set<string>
  /** The keys of the stored messages. */
  readonly kept: Set<string>
}

/** A request, and the conversation that it belongs to. */
type PlacedRequest = NonNullable<ReturnType<ConversationTracker['identify']>>

const maxKnown = 2_000

/**
 * Identifies conversations by the history that clients send with every request. The history is kept as hashes, only in this process. After
 * a restart, a conversation continues in a new session. Nothing is stored twice even then, because only the current message is stored.
 */
class ConversationTracker {
  /** By the whole history: the conversation and its next message. A different next message starts a new conversation. */
  readonly #histories = new RecentMap<{ readonly conversation: TrackedConversation; next: string | null }>(maxKnown)
  /** By the last exchange only, for clients that drop old messages. */
  readonly #exchanges = new RecentMap<TrackedConversation>(maxKnown)
  /** By the first message of a conversation. */
  readonly #openings = new RecentMap<{ readonly conversation: TrackedConversation; isAnswered: boolean }>(maxKnown)
  /** By the service's id for the earlier messages, or by the client's name for the conversation. */
  readonly #answers = new RecentMap<TrackedConversation>(maxKnown)
  readonly #host: string

  constructor(host: string) {
    this.#host = host
  }

  /** Finds the conversation of a request; null if no message is a person's. Requests with different views never share a conversation. */
  identify(view: string, { messages, continues, session }: RequestConversation) {
    const exchanges = exchangesIn(messages)
    const last = exchanges.at(-1)
    if (last === undefined) return null
    const histories = historiesOf(view, exchanges)
    const conversation = this.#conversationOf(view, exchanges, histories, { continues, session })
    const said = exchanges.flatMap(({ said: texts }, place) =>
      texts.map((message, index) => ({
        key: exchangeHashOf(histories[place] ?? '', message.text, String(index)),
        message,
      })),
    )
    return {
      conversation,
      /** All messages of the person, oldest first; `current` are the ones to be answered. */
      said,
      current: said.slice(-last.said.length),
      /** Must be called with the answer, so that the next request is recognised. */
      onResponse: ({ text, id, isComplete }: ModelAnswer): void => {
        if (id !== null) this.#answers.set(exchangeHashOf(view, id), conversation)
        if (!isComplete) return
        const answer = [last.answer, text].filter((part) => part !== '').join('\n\n')
        const history = historiesOf(view, [...exchanges.slice(0, -1), { ...last, answer }]).at(-1) as string
        if (this.#histories.get(history)?.conversation !== conversation)
          this.#histories.set(history, { conversation, next: null })
        this.#exchanges.set(exchangeKey(view, { ...last, answer }), conversation)
        const opening = this.#openings.get(wordsKey(view, last))
        if (opening?.conversation === conversation) opening.isAnswered = true
      },
    }
  }

  #conversationOf(
    view: string,
    exchanges: readonly Exchange[],
    histories: readonly string[],
    { continues, session }: Pick<RequestConversation, 'continues' | 'session'>,
  ): TrackedConversation {
    const newConversation = (): TrackedConversation => ({
      session: session ?? `${this.#host}-${randomUUID()}`,
      blocks: new Map(),
      shown: new Set(),
      kept: new Set(),
    })
    const reference = session ?? continues
    if (reference !== null) {
      const key = exchangeHashOf(view, reference)
      const known = this.#answers.get(key) ?? newConversation()
      this.#answers.set(key, known)
      return known
    }
    const last = exchanges.at(-1) as Exchange
    // The model has called a tool, and this request has the result.
    const begun = last.isBegun ? this.#histories.get(histories.at(-1) as string) : undefined
    if (begun !== undefined) return begun.conversation
    const before = this.#histories.get(histories.at(-2) as string)
    if (before !== undefined) {
      const next = wordsKey(view, last)
      if (before.next !== null && before.next !== next) return newConversation()
      before.next = next
      return before.conversation
    }
    for (const exchange of exchanges.slice(0, -1).reverse()) {
      const known = this.#exchanges.get(exchangeKey(view, exchange))
      if (known !== undefined) return known
    }
    const key = wordsKey(view, exchanges[0] as Exchange)
    const opening = this.#openings.get(key)
    // No complete answer was recorded, so the client repeats the request, or its history has only part of the answer.
    if (opening !== undefined && !opening.isAnswered) return opening.conversation
    const conversation = newConversation()
    if (exchanges.length === 1) this.#openings.set(key, { conversation, isAnswered: false })
    return conversation
  }
}

/** Groups messages into exchanges. Messages without a text, such as tool results, belong to the current answer. */
function exchangesIn(messages: readonly HistoryMessage[]) {
  // `isBegun`: the model has started its reply, even if only with a tool call.
  const exchanges: { said: HistoryMessage[]; answers: string[]; isBegun: boolean }[] = []
  for (const message of messages) {
    const last = exchanges.at(-1)
    if (message.role === 'assistant') {
      if (last === undefined) continue
      last.isBegun = true
      if (message.text.trim() !== '') last.answers.push(message.text)
    } else if (message.text !== '') {
      if (last === undefined || last.isBegun) exchanges.push({ said: [message], answers: [], isBegun: false })
      else last.said.push(message)
    }
  }
  return exchanges.map(({ said, answers, isBegun }) => ({ said, answer: answers.join('\n\n'), isBegun }))
}

const exchangeWordsOf = ({ said }: Exchange): string => said.map(({ text }) => text).join('\n\n')
const wordsKey = (view: string, exchange: Exchange): string => exchangeHashOf(view, exchangeWordsOf(exchange))
const exchangeKey = (view: string, exchange: Exchange): string =>
  exchangeHashOf(view, exchangeWordsOf(exchange), exchange.answer)

/** The hashes of the history before the first exchange, before the second, and so on. The last hash covers the whole history. */
function historiesOf(view: string, exchanges: readonly Exchange[]): readonly string[] {
  const histories = [exchangeHashOf(view)]
  for (const exchange of exchanges)
    histories.push(exchangeHashOf(histories.at(-1) as string, exchangeWordsOf(exchange), exchange.answer))
  return histories
}

/** Clients may trim or wrap the history that they send, so white space is ignored. */
const exchangeHashOf = (...texts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify(texts.map((text) => text.replace(/\s+/gu, ' ').trim())))
    .digest('base64url')
