import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseScopes } from '../beliefs/scope.ts'
import { expectedError, invalid } from '../errors.ts'
import { parseObject } from '../json.ts'
import type { HeardTurn } from '../memory/conversation/hear.ts'
import { offTheRecord } from '../memory/learn/off-the-record.ts'
import { renderContext, type ShownContext } from '../memory/recall/render.ts'
import { RecentMap } from '../recent-map.ts'
import type { Dialect, HistoryMessage, ModelAnswer, RequestConversation } from './dialects.ts'
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
  readonly onAnswer: (answer: ModelAnswer) => void
}

/** Hosts and models lose sight of longer context. */
export const proxyBudget = { maxPrelude: 2_000, maxCharacters: 6_000 }

/** Adds what is remembered to requests, and keeps what is said in them. */
export function memoryLane({ memory, view: usual, isPaused, deadlineMs, now, log }: MemoryDeps) {
  const conversations = new Conversations()
  let keeping: Promise<void> = Promise.resolve()

  /** The view that the headers of a request ask for. Throws a MemoryError for a scope or user that is none. */
  function viewOf(user: string | undefined, scope: string | undefined): View {
    if (user !== undefined && (user.trim() === '' || user.length > 200))
      throw invalid(
        'The header x-credence-user is empty or too long.',
        'Name a user with at most 200 characters, or leave the header out.',
      )
    const scopes = scope === undefined ? null : parseScopes(scope.split(',').map((one) => one.trim()))
    return {
      user: user?.trim() ?? usual.user,
      scopes: scopes ?? usual.scopes,
      homeScopes: scopes ?? usual.homeScopes,
    }
  }

  /** The request with blocks of memory in it. It is sent on as it is where that is not possible, and never fails. */
  async function prepare(dialect: Dialect, bytes: Buffer, view: View): Promise<Prepared> {
    const asItIs = (reason: string): Prepared => ({ body: bytes, outcome: `none; ${reason}`, onAnswer: () => {} })
    const body = parseObject(bytes.toString('utf8'))
    // The service says what is wrong with it.
    if (body === null) return asItIs('the body is not a JSON object')
    const spans = new JsonSpans(bytes.toString('latin1'))
    const conversation = dialect.read(body, spans)
    const placed = conversation === null ? null : conversations.place(JSON.stringify(view), conversation)
    if (placed === null) return asItIs('no message of a person')
    const problem = await recall(view, placed)
    const { talk, said, current } = placed
    const blocks = said.flatMap(({ key, message }) => {
      const block = talk.blocks.get(key)
      return block === undefined || message.insert === null ? [] : message.insert(block)
    })
    const isAdded = current.some(({ key }) => talk.blocks.has(key))
    keepSaid(view, placed)
    return {
      body: blocks.length === 0 ? bytes : withInsertions(bytes, blocks),
      outcome: problem === null ? (isAdded ? 'added' : 'none; nothing to add') : `skipped; ${problem}`,
      onAnswer: (answer) => {
        placed.answered(answer)
        keepAnswer(view, placed, answer)
      },
    }
  }

  /**
   * Recalls for the message that is being answered, once: a client that sends it again, with results of tools or with the
   * next message, gets the same bytes, so that the service finds them in its cache. Returns why nothing was recalled.
   */
  async function recall(view: View, { talk, current }: Placed): Promise<string | null> {
    const last = current.at(-1)
    if (last === undefined || talk.blocks.has(last.key)) return null
    const message = current.map(({ message: { text } }) => text).join('\n\n')
    const skipped = (reason: string): string => {
      log(`The request went on without memory: ${reason}.`)
      return reason
    }
    try {
      const context = await inTime(deadlineMs, memory.recall(view, message))
      if (context === null) return skipped(`no answer within ${deadlineMs} ms`)
      const block = renderContext(withoutShown(context, talk))
      if (block !== '') talk.blocks.set(last.key, block.trimEnd())
      return null
    } catch (error) {
      return skipped(failureOf(error))
    }
  }

  /** Only the last message is the person's. One before it, and a text with another author, may be a document. */
  function keepSaid(view: View, { talk, current }: Placed): void {
    const fresh = current.filter(({ key }) => !talk.kept.has(key))
    for (const { key } of fresh) talk.kept.add(key)
    const last = current.at(-1)
    keep(
      view,
      talk,
      fresh.map(({ key, message: { text, isTyped, author } }) => {
        const isOwn = key === last?.key && isTyped && (author === null || author === view.user)
        return { role: 'user', text, ...(isOwn ? {} : { origin: 'document' }) }
      }),
    )
  }

  /** The answer to what asks not to be kept is not kept either. */
  function keepAnswer(view: View, { talk, current }: Placed, { text }: ModelAnswer): void {
    const key = `answer ${current.at(-1)?.key} ${text}`
    if (text.trim() === '' || talk.kept.has(key) || current.some(({ message }) => offTheRecord(message.text))) return
    talk.kept.add(key)
    keep(view, talk, [{ role: 'assistant', text }])
  }

  /** One after the other, in the order in which they were said, while requests go on. */
  function keep(view: View, { session }: Talk, said: readonly Pick<HeardTurn, 'role' | 'text' | 'origin'>[]): void {
    const at = now().toISOString()
    const turns = said.map((turn) => ({ ...turn, at, session, host: 'proxy', messageId: randomUUID() }))
    if (turns.length === 0) return
    keeping = keeping
      .then(() => (isPaused() ? undefined : memory.keep(view, turns)))
      .catch((error: unknown) => log(`What was said was not kept: ${failureOf(error)}.`))
  }

  return {
    viewOf,
    prepare,
    /** Settles when everything that was said so far has been kept. */
    settled: (): Promise<void> => keeping,
  }
}

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

/** A message of the person and everything that was answered to it. */
type Exchange = ReturnType<typeof exchangesIn>[number]

export type Talk = {
  /** The session that its turns are kept in. */
  readonly session: string
  /** The blocks that were added to its messages, by the key of the message. */
  readonly blocks: Map<string, string>
  /** The lines that its blocks have shown. */
  readonly shown: Set<string>
  /** The keys of the messages that were kept. */
  readonly kept: Set<string>
}

/** A request with its place in a conversation. */
export type Placed = NonNullable<ReturnType<Conversations['place']>>

const mostKnown = 2_000

/**
 * Tells conversations apart by the history that clients send again with every request. What is known is kept in this
 * process alone, as hashes: after a restart a conversation goes on in a new session, and nothing of it is kept twice,
 * because only the message that is being answered is new.
 */
export class Conversations {
  /** By a whole history: its conversation, and the message that came next. Another next message is another conversation. */
  readonly #histories = new RecentMap<{ readonly talk: Talk; next: string | null }>(mostKnown)
  /** By the last exchange alone, for clients that leave out what came long before. */
  readonly #exchanges = new RecentMap<Talk>(mostKnown)
  /** By the first message of a conversation. */
  readonly #openings = new RecentMap<{ readonly talk: Talk; isAnswered: boolean }>(mostKnown)
  /** By the id of an answer that the service keeps. */
  readonly #answers = new RecentMap<Talk>(mostKnown)

  /** Null for a request without a message of a person. `view` tells users and scopes apart. */
  place(view: string, { messages, continues }: RequestConversation) {
    const exchanges = exchangesIn(messages)
    const last = exchanges.at(-1)
    if (last === undefined) return null
    const histories = historiesOf(view, exchanges)
    const talk = this.#talkOf(view, exchanges, histories, continues)
    const said = exchanges.flatMap(({ said: texts }, place) =>
      texts.map((message, index) => ({
        key: exchangeHashOf(histories[place] ?? '', message.text, String(index)),
        message,
      })),
    )
    return {
      talk,
      /** The messages of the person, oldest first, and those among them that this request is about. */
      said,
      current: said.slice(-last.said.length),
      /** Called with the answer when it has come, so that the next request is recognised. */
      answered: ({ text, id, isComplete }: ModelAnswer): void => {
        if (id !== null) this.#answers.set(exchangeHashOf(view, id), talk)
        if (!isComplete) return
        const answer = [last.answer, text].filter((part) => part !== '').join('\n\n')
        const history = historiesOf(view, [...exchanges.slice(0, -1), { ...last, answer }]).at(-1) as string
        if (this.#histories.get(history)?.talk !== talk) this.#histories.set(history, { talk, next: null })
        this.#exchanges.set(exchangeKey(view, { ...last, answer }), talk)
        const opening = this.#openings.get(wordsKey(view, last))
        if (opening?.talk === talk) opening.isAnswered = true
      },
    }
  }

  #talkOf(view: string, exchanges: readonly Exchange[], histories: readonly string[], continues: string | null): Talk {
    if (continues !== null) {
      const key = exchangeHashOf(view, continues)
      const known = this.#answers.get(key) ?? newTalk()
      this.#answers.set(key, known)
      return known
    }
    const last = exchanges.at(-1) as Exchange
    // The model has called a tool, and the client brings the result.
    const begun = last.isBegun ? this.#histories.get(histories.at(-1) as string) : undefined
    if (begun !== undefined) return begun.talk
    const before = this.#histories.get(histories.at(-2) as string)
    if (before !== undefined) {
      const next = wordsKey(view, last)
      if (before.next !== null && before.next !== next) return newTalk()
      before.next = next
      return before.talk
    }
    for (const exchange of exchanges.slice(0, -1).reverse()) {
      const known = this.#exchanges.get(exchangeKey(view, exchange))
      if (known !== undefined) return known
    }
    const key = wordsKey(view, exchanges[0] as Exchange)
    const opening = this.#openings.get(key)
    // An answer that did not come to its end is not in the history as it was sent, or the request is made again.
    if (opening !== undefined && !opening.isAnswered) return opening.talk
    const talk = newTalk()
    if (exchanges.length === 1) this.#openings.set(key, { talk, isAnswered: false })
    return talk
  }
}

const newTalk = (): Talk => ({
  session: `proxy-${randomUUID()}`,
  blocks: new Map(),
  shown: new Set(),
  kept: new Set(),
})

/** Messages without a text, such as results of tools, belong to the answer that is under way. */
function exchangesIn(messages: readonly HistoryMessage[]) {
  // Begun: the model has begun to answer, and be it with the call of a tool.
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

/** Hashes of the history before the first exchange, before the second and so on; the last one is the whole history. */
function historiesOf(view: string, exchanges: readonly Exchange[]): readonly string[] {
  const histories = [exchangeHashOf(view)]
  for (const exchange of exchanges)
    histories.push(exchangeHashOf(histories.at(-1) as string, exchangeWordsOf(exchange), exchange.answer))
  return histories
}

/** Clients may trim or wrap what they send again, so white space does not count. */
const exchangeHashOf = (...texts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify(texts.map((text) => text.replace(/\s+/gu, ' ').trim())))
    .digest('base64url')
