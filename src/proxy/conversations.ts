import { createHash, randomUUID } from 'node:crypto'
import { RecentMap } from '../recent-map.ts'
import type { Answer, Conversation, HistoryMessage } from './dialects.ts'

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
  place(view: string, { messages, continues }: Conversation) {
    const exchanges = exchangesIn(messages)
    const last = exchanges.at(-1)
    if (last === undefined) return null
    const histories = historiesOf(view, exchanges)
    const talk = this.#talkOf(view, exchanges, histories, continues)
    const said = exchanges.flatMap(({ said: texts }, place) =>
      texts.map((message, index) => ({ key: hashOf(histories[place] ?? '', message.text, String(index)), message })),
    )
    return {
      talk,
      /** The messages of the person, oldest first, and those among them that this request is about. */
      said,
      current: said.slice(-last.said.length),
      /** Called with the answer when it has come, so that the next request is recognised. */
      answered: ({ text, id, isComplete }: Answer): void => {
        if (id !== null) this.#answers.set(hashOf(view, id), talk)
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
      const key = hashOf(view, continues)
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

const wordsOf = ({ said }: Exchange): string => said.map(({ text }) => text).join('\n\n')
const wordsKey = (view: string, exchange: Exchange): string => hashOf(view, wordsOf(exchange))
const exchangeKey = (view: string, exchange: Exchange): string => hashOf(view, wordsOf(exchange), exchange.answer)

/** Hashes of the history before the first exchange, before the second and so on; the last one is the whole history. */
function historiesOf(view: string, exchanges: readonly Exchange[]): readonly string[] {
  const histories = [hashOf(view)]
  for (const exchange of exchanges)
    histories.push(hashOf(histories.at(-1) as string, wordsOf(exchange), exchange.answer))
  return histories
}

/** Clients may trim or wrap what they send again, so white space does not count. */
const hashOf = (...texts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify(texts.map((text) => text.replace(/\s+/gu, ' ').trim())))
    .digest('base64url')
