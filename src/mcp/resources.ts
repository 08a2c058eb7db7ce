import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import type { Belief } from '../beliefs/belief.ts'
import { visibleScopes } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import { beliefLine, quoteLine, visibleText } from '../memory/recall/render.ts'
import { cut, notice } from './belief-answer.ts'
import { type OnBug, orTold } from './faults.ts'
import { beliefInView, isInView, type Visit } from './visit.ts'

/** What is shown of an index before the rest is only counted; agents read no more than about this much of a file. */
const longestIndex = 25_000
const mostListed = 100
const mostTurns = 500
const markdown = 'text/markdown'

const uriOf = (id: string): string => `memory://belief/${encodeURIComponent(id)}`

const conversationUri = (session: string): string => `memory://conversation/${encodeURIComponent(session)}`

/** Offers beliefs and conversations in view as resources: the beliefs on one page and each by its id, conversations by session. */
export function registerResources(server: McpServer, visitNow: () => Promise<Visit>, onBug: OnBug): void {
  const told = <Result>(work: (visit: Visit) => Promise<Result>): Promise<Result> =>
    orTold(async () => work(await visitNow()), onBug)
  server.registerResource(
    'index',
    'memory://index',
    {
      title: 'What is remembered',
      description: 'The beliefs in view, by scope, most recently changed first.',
      mimeType: markdown,
      annotations: { audience: ['user', 'assistant'], priority: 0.6 },
    },
    ({ href }) =>
      told(async (visit) => ({ contents: [{ uri: href, mimeType: markdown, text: await indexOf(visit) }] })),
  )
  const template = new ResourceTemplate('memory://belief/{id}', { list: () => told(listed) })
  server.registerResource(
    'belief',
    template,
    { title: 'One belief', description: 'A belief by its id.', mimeType: markdown },
    ({ href }, { id }) =>
      told(async (visit) => {
        const belief = await readable(visit, String(id), href)
        return { contents: [{ uri: href, mimeType: markdown, text: pageOf(belief) }] }
      }),
  )
  const conversations = new ResourceTemplate('memory://conversation/{session}', { list: () => told(listedSessions) })
  server.registerResource(
    'conversation',
    conversations,
    {
      title: 'One conversation',
      description: 'What was said in an earlier conversation, word for word, oldest first; the end of a long one.',
      mimeType: markdown,
    },
    ({ href }, { session }) =>
      told(async (visit) => ({
        contents: [{ uri: href, mimeType: markdown, text: await conversationOf(visit, String(session), href) }],
      })),
  )
}

async function listedSessions({ memory, standing: { scopes } }: Visit) {
  const { items } = await memory.conversations({ scopes: visibleScopes(scopes), limit: mostListed })
  return {
    resources: items.map(({ session, turns, firstAt, lastAt, opening }) => ({
      uri: conversationUri(session),
      name: visibleText(session),
      title: `${firstAt.slice(0, 10)}: ${oneLine(opening)}`,
      description: `${turns} turns`,
      mimeType: markdown,
      annotations: { audience: ['assistant' as const], priority: 0.3, lastModified: lastAt },
    })),
  }
}

/** The turns in view of a conversation; where it is long, the last ones. */
async function conversationOf({ memory, standing: { scopes } }: Visit, written: string, href: string): Promise<string> {
  const session = decoded(written)
  const filter = { session: session ?? '', scopes: visibleScopes(scopes) }
  const { total } = await memory.turns({ ...filter, limit: 1 })
  if (session === null || total === 0) throw new ResourceNotFoundError(href)
  const { items } = await memory.turns({ ...filter, limit: mostTurns, offset: Math.max(0, total - mostTurns) })
  let length = 0
  const shown = items
    .toReversed()
    .map((turn) => quoteLine({ ...turn, text: cut(turn.text), earlier: false }))
    .filter((line) => {
      length += line.length
      return length <= longestIndex
    })
    .reverse()
  const before = total - shown.length
  const omitted = before === 0 ? [] : [`${before} turns stand before these; look for them with memory_search.`, '']
  return [`# ${oneLine(session)}`, '', notice, '', ...omitted, ...shown, ''].join('\n')
}

const oneLine = (text: string): string => visibleText(text.replace(/\s+/gu, ' ')).trim()

async function listed(visit: Visit) {
  const beliefs = (await inView(visit, mostListed)).items
  return {
    resources: beliefs.map(({ id, name, updatedAt, pinned }) => ({
      uri: uriOf(id),
      name: visibleText(name),
      mimeType: markdown,
      annotations: { audience: ['assistant' as const], priority: pinned ? 0.8 : 0.4, lastModified: updatedAt },
    })),
  }
}

async function inView({ memory, standing: { scopes, agent } }: Visit, limit: number) {
  const page = await memory.list({ scopes: visibleScopes(scopes), current: true, limit })
  return { total: page.total, items: page.items.filter((belief) => isInView(belief, scopes, agent)) }
}

async function indexOf(visit: Visit): Promise<string> {
  const { total, items } = await inView(visit, 1_000)
  const scopes = visibleScopes(visit.standing.scopes)
  const lines = ['# What is remembered', '', notice]
  let length = lines.join('\n').length
  let shown = 0
  for (const scope of scopes) {
    const here = items.filter((belief) => belief.scopes.find((one) => scopes.includes(one)) === scope)
    if (here.length === 0) continue
    lines.push('', `## ${scope}`)
    for (const belief of here) {
      const line = `${beliefLine(belief)} (${belief.id})`
      if (length + line.length > longestIndex) break
      lines.push(line)
      length += line.length + 1
      shown += 1
    }
  }
  if (shown === 0) lines.push('', `Nothing yet in ${scopes.join(' and ')}.`)
  else if (shown < total) lines.push('', `${total - shown} more; look for them with memory_search.`)
  return `${lines.join('\n')}\n`
}

async function readable(visit: Visit, written: string, href: string): Promise<Belief> {
  const id = decoded(written)
  if (id === null) throw new ResourceNotFoundError(href)
  const belief = await beliefInView(visit, id, undefined).catch((error: unknown) => {
    const isNone = error instanceof MemoryError && (error.code === 'not_found' || error.code === 'conflict')
    throw isNone ? new ResourceNotFoundError(href) : error
  })
  // A resource has one address: its id, not a name that may move on to another belief.
  if (belief.id !== id) throw new ResourceNotFoundError(href)
  return belief
}

/** A part of an address as text; null where it is badly encoded. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

const pageOf = (belief: Belief): string =>
  [
    notice,
    '',
    beliefLine(belief),
    '',
    `- id: ${belief.id}`,
    `- type: ${belief.subtype ?? belief.type}`,
    `- status: ${belief.status}`,
    `- scopes: ${belief.scopes.join(', ')}`,
    `- written by: ${belief.editedByPerson ? 'person' : belief.provenance.actor}`,
    `- changed: ${belief.updatedAt}`,
    '',
  ].join('\n')
