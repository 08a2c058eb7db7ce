import { Hono } from 'hono'
import { universalScope } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import { type BeliefMessage, beliefMessage, routes, searchMessage } from '../eval/system/outside/http-contract.ts'
import type { System } from '../eval/system/system.ts'
import { limits } from '../memory/change/draft.ts'
import { type BeliefRecord, parseRecord } from '../memory/transfer/belief-record.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { isOrdinaryWord } from '../search/ordinary-words.ts'
import { answerError, refuse } from './error-answers.ts'
import { readBody } from './read-request.ts'
import { loopbackNames, sameOriginOnly } from './same-origin.ts'

type RecallAppOptions = {
  /** The system that answers. The app needs exclusive use of it. */
  readonly system: System
  /** The name in the tables of a harness. Default: made from the address. */
  readonly name?: string
  readonly now: () => Date
  readonly newId: () => string
  /** Called with errors that are bugs. */
  readonly onBug: (error: unknown) => void
}

const hint = 'docs/systems.md describes the requests.'

/** Serves a system over the HTTP contract of docs/systems.md, for external harnesses. Only the relevant tier is served. */
export function recallApp({ system, name, now, newId, onBug }: RecallAppOptions): Hono {
  const sent = new Map<string, BeliefRecord>()
  let lastMoment = 0
  /** The time of a message, which always increases, so that results do not depend on how fast messages arrive. */
  const timeNow = (): string => {
    lastMoment = Math.max(now().getTime(), lastMoment + 1)
    return new Date(lastMoment).toISOString()
  }
  const app = new Hono()
  app.onError(answerError(onBug))
  app.use(sameOriginOnly(loopbackNames))

  /** Adds a belief, or replaces the one with its id. */
  const put = async (request: Request): Promise<{ readonly id: string }> => {
    const message = await readBody(request, beliefMessage, hint)
    const keyOf = (id: string | undefined): string => `${message.user_id}\n${id}`
    const belief = parseBelief(message, { known: sent.get(keyOf(idIn(message))), at: timeNow(), newId })
    await system.update({ kind: 'create', belief })
    sent.set(keyOf(belief.id), belief)
    return { id: belief.id }
  }

  const search = async (request: Request) => {
    const { query, user_id: user, limit, scope, scopes } = await readBody(request, searchMessage, hint)
    const active = scopes ?? (scope === undefined || scope === null ? [universalScope] : [scope].flat())
    const { relevant } = await system.recall({ user, scopes: active, message: query, budget: only(limit), recall: {} })
    return {
      results: relevant.map(({ id, score, clauses = [] }) => ({ id, score, clauses, metadata: { beliefId: id } })),
    }
  }

  app.on(routes.about.method, routes.about.path, (context) => {
    const { version, offers } = system
    return context.json(omitUndefined({ name, version, offers }))
  })
  app.on(routes.reset.method, routes.reset.path, async (context) => {
    sent.clear()
    await system.reset()
    return context.json({ ok: true })
  })
  app.on(routes.add.method, routes.add.path, async (context) => context.json(await put(context.req.raw)))
  app.on(routes.update.method, routes.update.path, async (context) => context.json(await put(context.req.raw)))
  app.on(routes.search.method, routes.search.path, async (context) => context.json(await search(context.req.raw)))

  for (const { method, path } of Object.values(routes)) {
    app.all(path, (context) => {
      context.header('allow', method)
      return refuse(context, 405, { code: 'invalid', message: `${path} takes ${method}.` })
    })
  }
  app.notFound((context) =>
    refuse(context, 404, {
      code: 'not_found',
      message: `There is no ${context.req.path.slice(0, 80)}.`,
      hint: `There are ${Object.values(routes)
        .map(({ method, path }) => `${method} ${path}`)
        .join(', ')}.`,
    }),
  )
  return app
}

/** Limits the relevant beliefs and returns no other tier, because the harness adds pinned beliefs itself. */
const only = (limit: number) => ({
  maxBeliefs: limit,
  maxPinned: 0,
  maxQuestions: 0,
  maxCharacters: Number.MAX_SAFE_INTEGER,
})

type AppEnvironment = {
  /** The belief as it was sent before; the message may omit unchanged fields. */
  readonly known: BeliefRecord | undefined
  readonly at: string
  readonly newId: () => string
}

/** The id of the belief in a message: in the metadata or at the top level. */
function idIn({ beliefId, id, metadata }: BeliefMessage): string | undefined {
  const inMetadata = metadata?.beliefId
  if (inMetadata !== undefined && typeof inMetadata !== 'string')
    throw new MemoryError('invalid', `metadata.beliefId is ${JSON.stringify(inMetadata)?.slice(0, 80)}, not text.`)
  return beliefId ?? inMetadata ?? id
}

/**
 * Builds a belief from a message. Metadata takes precedence. Without it, the text is the content, and the name is the part of
 * the text before the aliases, or else the id. An alias is never used as the name: two beliefs may share an alias, but a
 * second belief with the same name and scope would replace the first.
 */
export function parseBelief(message: BeliefMessage, { known, at, newId }: AppEnvironment): BeliefRecord {
  const { text, user_id: user, metadata = {} } = message
  const id = idIn(message) ?? newId()
  const aliases = message.aliases ?? (known === undefined ? undefined : [...known.aliases, ...newForms(text, known)])
  const value = {
    name: nameBefore(aliases ?? [], text) ?? id,
    ...known,
    content: text,
    ...fieldsIn(metadata),
    ...(aliases === undefined ? {} : { aliases }),
    id,
    user,
  }
  return parseRecord(value, { user, scopes: [universalScope], origin: 'http', at, newId }).record
}

/**
 * Published harnesses send a changed belief as one text with its name and aliases. If the text repeats all of them, its
 * other words are new aliases, except everyday words, which would match almost every message.
 */
function newForms(text: string, { name, aliases, content }: BeliefRecord): readonly string[] {
  const plain = lower(text).replaceAll('_', ' ')
  if (![name, ...aliases].every((form) => plain.includes(lower(form).replaceAll('_', ' ')))) return []
  const known = new Set(wordsIn([name.replaceAll('_', ' '), name, ...aliases, content].join(' ')).map(lower))
  const added = wordsIn(text).filter((word) => !known.has(lower(word)) && !isOrdinaryWord(lower(word)))
  return [...new Map(added.map((word) => [lower(word), word])).values()]
}

const lower = (word: string): string => word.toLowerCase()

/** Words with at least one letter, without the punctuation around them. */
const wordsIn = (text: string): readonly string[] =>
  text
    .split(/\s+/u)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}+#]+$/gu, ''))
    .filter((word) => /\p{L}/u.test(word))

/** `scopes` takes precedence over `scope`; null counts as absent. A turn of a conversation is stored like any statement. */
function fieldsIn({ scope, scopes, type, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const sent = scopes ?? scope ?? undefined
  return { ...rest, ...omitUndefined({ scopes: sent, type: type === 'turn' ? undefined : type }) }
}

const maxWordsOfName = 8

/** The text before the aliases, for texts that join name, aliases, content and why with spaces. */
function nameBefore(aliases: readonly string[], text: string): string | null {
  const run = ` ${aliases.join(' ')}`
  const at = aliases.length === 0 ? -1 : text.indexOf(run)
  const name = text.slice(0, Math.max(at, 0)).trim()
  const isName = name !== '' && name.length <= limits.name && name.split(/\s+/u).length <= maxWordsOfName
  return isName && /^(?:\s|$)/u.test(text.slice(at + run.length)) ? name : null
}
