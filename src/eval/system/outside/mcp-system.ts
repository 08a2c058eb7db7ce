import type { CallToolResult } from '@modelcontextprotocol/client'
import { type MemoryError, unavailable } from '../../../errors.ts'
import { defaultBudget } from '../../../memory/recall/context.ts'
import type { BeliefRecord } from '../../../memory/transfer/belief-record.ts'
import { type AnswerHit, emptyAnswer, type HearingSystem, type SystemQuery } from '../system.ts'
import { withoutRepeats } from '../under-test.ts'
import { describeBelief, describeTurn } from './http-contract.ts'
import { type McpConnection, openMcpConnection, textIn } from './mcp-connection.ts'
import { type JsonPath, type MappedCall, type McpMapping, type TemplateValues, valuesAt } from './mcp-mapping.ts'

/** Any memory that is an MCP server on standard input and output, used through its own tools. */
export function mcpSystem({ mapping }: { readonly mapping: McpMapping }): HearingSystem {
  const { name, version, search } = mapping
  /** The ids of the beliefs, turns and sessions that the server received. */
  let ids = new Set<string>()
  let connection: McpConnection | null = null

  const stop = async (): Promise<void> => {
    const open = connection
    connection = null
    ids = new Set()
    await open?.close()
  }
  const start = async (): Promise<McpConnection> => {
    const opened = await openMcpConnection(mapping)
    connection = opened
    await callAll(opened, mapping.reset ?? [], { stateDir: opened.stateDir })
    return opened
  }
  const startOnce = async (): Promise<McpConnection> => connection ?? start()
  const add = async (belief: BeliefRecord): Promise<void> => {
    ids.add(belief.id)
    await callAll(await startOnce(), mapping.add, describeBelief(belief))
  }

  return {
    name,
    version,
    description: mapping.description ?? `the MCP server ${name}`,
    tiers: 'relevant',
    ...(mapping.offers === undefined ? {} : { offers: mapping.offers }),
    notes: mapping.notes.map((note) => `${name}: ${note}`),
    // A new process in a new directory, so that a server cannot keep anything from one run to the next.
    reset: async () => {
      await stop()
      await start()
    },
    ingest: async (beliefs) => {
      for (const belief of beliefs) await add(belief)
      return [`${name} is ${(await startOnce()).server}.`]
    },
    hear: async (turns) => {
      for (const turn of turns) {
        ids.add(turn.id).add(turn.session)
        await callAll(await startOnce(), mapping.add, { aliases: [], ...describeTurn(turn) })
      }
    },
    update: async ({ kind, belief }) => {
      if (kind === 'create') return add(belief)
      if (mapping.update === undefined)
        throw unavailable(`${name}: its mapping names no tool to update a belief with.`, 'Add "update" to the mapping.')
      await callAll(await startOnce(), mapping.update, describeBelief(belief))
    },
    recall: async (query) => {
      const server = await startOnce()
      const ask = async (text: string): Promise<readonly AnswerHit[]> =>
        hitsIn(await server.call(search, queryValues(query, text)), mapping, ids)
      const relevant = search.perWord
        ? await rankByWordCount(messageWordsOf(query.message), ask)
        : withoutRepeats(await ask(query.message))
      return { ...emptyAnswer, relevant }
    },
    close: stop,
  }
}

async function callAll(server: McpConnection, calls: readonly MappedCall[], values: TemplateValues): Promise<void> {
  for (const call of calls) await server.call(call, values)
}

const queryValues = ({ user, scopes, budget, at = '' }: SystemQuery, query: string): TemplateValues => ({
  query,
  at,
  user,
  limit: budget.maxBeliefs ?? defaultBudget.maxBeliefs,
  scope: scopes[0] ?? '',
  scopes,
})

const messageWordsOf = (message: string): readonly string[] => {
  const words = message.match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Map(words.map((word) => [word.toLowerCase(), word])).values()]
}

/** Beliefs by the number of words that find them, most first; ties keep the order in which they were found. */
async function rankByWordCount(
  words: readonly string[],
  ask: (word: string) => Promise<readonly AnswerHit[]>,
): Promise<readonly AnswerHit[]> {
  const found = new Map<string, number>()
  for (const word of words) {
    for (const { id } of withoutRepeats(await ask(word))) found.set(id, (found.get(id) ?? 0) + 1)
  }
  return [...found].sort(([, a], [, b]) => b - a).map(([id, count]) => ({ id, score: count }))
}

function hitsIn(
  result: CallToolResult,
  { name, search: { tool, results } }: McpMapping,
  ids: ReadonlySet<string>,
): readonly AnswerHit[] {
  if ('idsInText' in results) return idsIn(textIn(result), ids).map((id) => ({ id, score: null }))
  const value = structureOf(result, `${name}: the tool ${tool}`)
  const found = stringsAt(value, results.ids, `${name}: the ids in the result of ${tool}`)
  const scores = results.scores === undefined ? null : valuesAt(value, results.scores)
  if (scores !== null && scores.length !== found.length)
    throw unusable(`${name}: the result of ${tool} has ${found.length} ids and ${scores.length} scores.`)
  return found.map((text, at) => {
    const score = scores?.[at]
    // A value without any of our ids is kept, as a wrong answer.
    return { id: idsIn(text, ids)[0] ?? text, score: typeof score === 'number' ? score : null }
  })
}

/** The server's structured content, else its text, parsed as JSON. */
function structureOf(result: CallToolResult, what: string): unknown {
  if (result.structuredContent !== undefined) return result.structuredContent
  const text = textIn(result)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unusable(`${what} answered with something other than JSON: ${text.slice(0, 200)}`, cause)
  }
}

function stringsAt(value: unknown, path: JsonPath, what: string): readonly string[] {
  return valuesAt(value, path).map((found) => {
    if (typeof found === 'string') return found
    throw unusable(`${what} are not texts: ${JSON.stringify(found).slice(0, 200)}`)
  })
}

/** The ids that occur in a text as whole words, in order of their first position. */
function idsIn(text: string, ids: ReadonlySet<string>): readonly string[] {
  if (ids.has(text)) return [text]
  return [...ids]
    .map((id) => ({ id, at: textPlaceOf(id, text) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id)
}

/** The position of an id that is not part of a longer id; -1 if there is none. */
function textPlaceOf(id: string, text: string): number {
  const isPartOfId = (character: string | undefined): boolean => character !== undefined && /[\w-]/u.test(character)
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, at + 1)) {
    if (!isPartOfId(text[at - 1]) && !isPartOfId(text[at + id.length])) return at
  }
  return -1
}

const unusable = (message: string, cause?: unknown): MemoryError =>
  unavailable(message, 'Check that "results" in the mapping names the path of the ids.', cause)
