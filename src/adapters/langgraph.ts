import { createHash } from 'node:crypto'
import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint'
import type { Belief } from '../beliefs/belief.ts'
import { conflict, invalid, nullIfNotFound } from '../errors.ts'
import { isObject, parseObject } from '../json.ts'
import type { Memory } from '../memory/memory.ts'
import { type AgentMemoryOptions, openForAgent } from './agent-memory.ts'

const kind = 'langgraph:'
const pageSize = 500

/**
 * A LangGraph store. A namespace is a scope (`["users", "ana"]` is `langgraph:users/ana`), and an item is an agent's belief in
 * this scope, named after its key. Recall, search, history and undo work as for every belief.
 */
export class CredenceStore extends BaseStore {
  readonly #memory: Memory
  readonly #close: () => Promise<void>

  constructor(options: Omit<AgentMemoryOptions, 'scopes'>) {
    super()
    const { agent, close } = openForAgent(options)
    this.#memory = agent
    this.#close = close
  }

  /** Reads see the state before the batch. If an item is written several times, the last write wins. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const answers: unknown[] = []
    for (const operation of operations) {
      if ('value' in operation) answers.push(undefined)
      else if ('namespacePrefix' in operation) answers.push(await this.#search(operation))
      else if ('key' in operation) answers.push(await this.#get(operation))
      else answers.push(await this.#namespaces(operation))
    }
    const writes = operations.filter((operation) => 'value' in operation)
    const last = new Map(writes.map((write) => [JSON.stringify([write.namespace, write.key]), write]))
    for (const write of last.values()) await this.#put(write)
    return answers as OperationResults<Op>
  }

  override stop(): Promise<void> {
    return this.#close()
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const belief = await this.#find(namespace, key)
    return belief === null ? null : itemOf(belief)
  }

  async #put({ namespace, key, value }: PutOperation): Promise<void> {
    const scope = scopeOf(namespace)
    const known = await this.#find(namespace, key)
    if (value === null) {
      if (known !== null) await this.#memory.forget(known.id)
      return
    }
    const { content, sourceId } = contentOf(key, value)
    const { outcome } =
      known === null
        ? await this.#memory.remember({ name: await this.#freeName(scope, key), content, sourceId, scopes: [scope] })
        : await this.#memory.correct(known.id, { content, sourceId })
    if (outcome === 'proposed')
      throw conflict(`The item "${key}" was not stored: it waits for review.`, 'Accept it with credence review.')
  }

  async #search({ namespacePrefix, filter, query, limit = 10, offset = 0 }: SearchOperation): Promise<SearchItem[]> {
    const scopes = (await this.#listScopes()).filter((scope) => isBelow(namespaceOf(scope), namespacePrefix))
    const found: SearchItem[] = []
    if (scopes.length === 0) return found
    for (let start = 0; found.length < offset + limit; start += pageSize) {
      const page = { scopes, current: true, limit: pageSize, offset: start }
      const items =
        query === undefined
          ? (await this.#memory.list(page)).items.map((belief) => ({ belief }))
          : (await this.#memory.find(query, page)).items
      for (const { belief, ...hit } of items) {
        const item = itemOf(belief)
        if (item === null || !isBelow(item.namespace, namespacePrefix) || !hasValues(item.value, filter)) continue
        found.push('score' in hit && typeof hit.score === 'number' ? { ...item, score: hit.score } : item)
      }
      if (items.length < pageSize) break
    }
    return found.slice(offset, offset + limit)
  }

  async #namespaces({ matchConditions = [], maxDepth, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const namespaces = (await this.#listScopes())
      .map(namespaceOf)
      .filter((namespace) => matchConditions.every((condition) => isMatch(namespace, condition)))
      .map((namespace) => JSON.stringify(namespace.slice(0, maxDepth)))
    return [...new Set(namespaces)]
      .sort()
      .slice(offset, offset + limit)
      .map((namespace) => JSON.parse(namespace))
  }

  async #listScopes(): Promise<readonly string[]> {
    return (await this.#memory.scopes()).map(({ scope }) => scope).filter((scope) => scope.startsWith(kind))
  }

  async #find(namespace: readonly string[], key: string): Promise<Belief | null> {
    const scope = scopeOf(namespace)
    for (const name of [key, distinctName(key)]) {
      const belief = await this.#findNamed(scope, name)
      if (belief !== null && itemOf(belief)?.key === key) return belief
    }
    return null
  }

  /** Keys that differ only in case or punctuation would be the same belief name, so the second gets a distinct one. */
  async #freeName(scope: string, key: string): Promise<string> {
    return (await this.#findNamed(scope, key)) === null ? key : distinctName(key)
  }

  async #findNamed(scope: string, name: string): Promise<Belief | null> {
    const belief = await nullIfNotFound(() => this.#memory.get(name, { scopes: [scope] }))
    return belief?.scopes.includes(scope) === true ? belief : null
  }
}

const distinctName = (key: string): string => `${key} ${createHash('sha256').update(key).digest('hex').slice(0, 8)}`

const scopeOf = (namespace: readonly string[]): string => `${kind}${namespace.map(encodeURIComponent).join('/')}`
const namespaceOf = (scope: string): string[] => scope.slice(kind.length).split('/').map(decodeURIComponent)

/** A value with a single text field is stored as plain text, for people to read; any other value is stored as JSON. */
function contentOf(key: string, value: Record<string, unknown>) {
  const [field, ...others] = Object.keys(value)
  const only = field === undefined || others.length > 0 ? undefined : value[field]
  const isText = typeof only === 'string' && only.trim() !== '' && only === only.trim()
  return {
    content: isText ? only : JSON.stringify(value),
    sourceId: JSON.stringify(isText ? { key, field } : { key }),
  }
}

/** Null for a belief that was not written by a `CredenceStore`. */
function itemOf({ content, scopes, provenance: { sourceId }, createdAt, updatedAt }: Belief): Item | null {
  const scope = scopes.find((one) => one.startsWith(kind))
  if (scope === undefined || sourceId === null) return null
  const source = parseObject(sourceId)
  if (typeof source?.key !== 'string') return null
  // A person may have replaced the JSON with a sentence.
  const value =
    typeof source.field === 'string' ? { [source.field]: content } : (parseObject(content) ?? { text: content })
  const times = { createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) }
  return { key: source.key, namespace: namespaceOf(scope), value, ...times }
}

const isBelow = (namespace: readonly string[], prefix: readonly string[]): boolean =>
  prefix.every((part, place) => namespace[place] === part)

function isMatch(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  const start = matchType === 'prefix' ? 0 : namespace.length - path.length
  return start >= 0 && path.every((part, place) => part === '*' || namespace[start + place] === part)
}

const comparisons: Readonly<Record<string, (a: never, b: never) => boolean>> = {
  $eq: (a, b) => isEqual(a, b),
  $ne: (a, b) => !isEqual(a, b),
  $gt: (a, b) => a > b,
  $gte: (a, b) => a >= b,
  $lt: (a, b) => a < b,
  $lte: (a, b) => a <= b,
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Whether a value matches a filter: each field equals a value, or satisfies comparisons such as `{ $gte: 3 }`. */
function hasValues(value: Record<string, unknown>, filter: Record<string, unknown> = {}): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const isComparison = isObject(wanted) && Object.keys(wanted).some((name) => name.startsWith('$'))
    if (!isComparison) return isEqual(value[field], wanted)
    return Object.entries(wanted).every(([name, limit]) => {
      const compare = comparisons[name]
      if (compare === undefined)
        throw invalid(`"${name}" is not a comparison.`, `Use one of ${Object.keys(comparisons).join(', ')}.`)
      return compare(value[field] as never, limit as never)
    })
  })
}
