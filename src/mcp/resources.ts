import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import type { Belief } from '../beliefs/belief.ts'
import { visibleScopes } from '../beliefs/scope.ts'
import { reporterOf, type Turn } from '../beliefs/turn.ts'
import { MemoryError } from '../errors.ts'
import { localDay } from '../local-time.ts'
import { beliefLine, quoteLine, visibleText } from '../memory/recall/render.ts'
import type { AgentCall } from '../operations/operation.ts'
import { cutText, notice } from '../operations/tool-answers.ts'
import { findBeliefInView, isInView } from '../operations/view.ts'
import { ownParts } from '../search/turns/pasted.ts'
import { type OnBug, withSafeErrors } from './tool.ts'

/** The maximum number of characters of an index or a conversation. Agents read about this much of a file. */
const maxPageLength = 25_000
const maxListed = 100
const maxTurns = 500
const mimeType = 'text/markdown'

/** Offers the beliefs and conversations in view as resources: an index, each belief by id, each conversation by session. */
export function registerResources(server: McpServer, callContext: () => Promise<AgentCall>, onBug: OnBug): void {
  const safely = <Result>(work: (call: AgentCall) => Promise<Result>): Promise<Result> =>
    withSafeErrors(async () => work(await callContext()), onBug)
  const page = (uri: string, textOf: (call: AgentCall) => Promise<string>) =>
    safely(async (call) => ({ contents: [{ uri, mimeType, text: await textOf(call) }] }))
  server.registerResource(
    'index',
    'memory://index',
    {
      title: 'What is remembered',
      description: 'The beliefs in view, by scope, most recently changed first.',
      mimeType,
      annotations: { audience: ['user', 'assistant'], priority: 0.6 },
    },
    ({ href }) => page(href, indexOf),
  )
  server.registerResource(
    'belief',
    new ResourceTemplate('memory://belief/{id}', { list: () => safely(listedBeliefs) }),
    { title: 'One belief', description: 'A belief by its id.', mimeType },
    ({ href }, { id }) => page(href, async (call) => pageOf(await readable(call, String(id), href))),
  )
  server.registerResource(
    'conversation',
    new ResourceTemplate('memory://conversation/{session}', { list: () => safely(listedSessions) }),
    {
      title: 'One conversation',
      description:
        'The turns of an earlier conversation, word for word, oldest first; of a long one, only the last turns.',
      mimeType,
    },
    ({ href }, { session }) => page(href, (call) => conversationOf(call, String(session), href)),
  )
}

async function listedSessions({ memory, view: { scopes } }: AgentCall) {
  const { items } = await memory.conversations({ scopes: visibleScopes(scopes), limit: maxListed })
  return {
    resources: items.map(({ session, turns, firstAt, lastAt, utcOffset, opening }) => ({
      uri: `memory://conversation/${encodeURIComponent(session)}`,
      name: visibleText(session),
      title: `${localDay(firstAt, utcOffset)}: ${oneLine(opening)}`,
      description: `${turns} turns`,
      mimeType,
      annotations: { audience: ['assistant' as const], priority: 0.3, lastModified: lastAt },
    })),
  }
}

/** A conversation in view as text. If it is long, only the last turns. */
async function conversationOf({ memory, view: { scopes } }: AgentCall, written: string, href: string) {
  const session = decodePart(written)
  const filter = { session: session ?? '', scopes: visibleScopes(scopes) }
  const { total } = await memory.turns({ ...filter, limit: 1 })
  if (session === null || total === 0) throw new ResourceNotFoundError(href)
  const { items } = await memory.turns({ ...filter, limit: maxTurns, offset: Math.max(0, total - maxTurns) })
  let length = 0
  const shown = items
    .toReversed()
    .map((turn) =>
      quoteLine({
        ...turn,
        text: cutText(turn.text),
        speaker: reporterOf(turn) ?? turn.speaker,
        perhapsPasted: mayHoldPaste(turn),
        earlier: false,
        correctedAt: null,
      }),
    )
    .filter((line) => {
      length += line.length
      return length <= maxPageLength
    })
    .reverse()
  const before = total - shown.length
  const omitted = before === 0 ? [] : [`${before} earlier turns are not shown; find them with memory_search.`, '']
  return [`# ${oneLine(session)}`, '', notice, '', ...omitted, ...shown, ''].join('\n')
}

/** Whether a person's turn may contain pasted text. */
const mayHoldPaste = ({ role, origin, text }: Turn): boolean =>
  role === 'user' && (origin !== 'person' || (ownParts(text)[0]?.end ?? 0) < text.length)

const oneLine = (text: string): string => visibleText(text.replace(/\s+/gu, ' ')).trim()

async function listedBeliefs(call: AgentCall) {
  const beliefs = (await inView(call, maxListed)).items
  return {
    resources: beliefs.map(({ id, name, updatedAt, pinned }) => ({
      uri: `memory://belief/${encodeURIComponent(id)}`,
      name: visibleText(name),
      mimeType,
      annotations: { audience: ['assistant' as const], priority: pinned ? 0.8 : 0.4, lastModified: updatedAt },
    })),
  }
}

async function inView({ memory, view: { scopes, agent } }: AgentCall, limit: number) {
  const page = await memory.list({ scopes: visibleScopes(scopes), current: true, limit })
  return { total: page.total, items: page.items.filter((belief) => isInView(belief, scopes, agent)) }
}

async function indexOf(call: AgentCall): Promise<string> {
  const { total, items } = await inView(call, 1_000)
  const scopes = visibleScopes(call.view.scopes)
  const lines = ['# Remembered beliefs', '', notice]
  let length = lines.join('\n').length
  let shown = 0
  for (const scope of scopes) {
    const here = items.filter((belief) => belief.scopes.find((one) => scopes.includes(one)) === scope)
    if (here.length === 0) continue
    lines.push('', `## ${scope}`)
    for (const belief of here) {
      const line = `${beliefLine(belief)} (${belief.id})`
      if (length + line.length > maxPageLength) break
      lines.push(line)
      length += line.length + 1
      shown += 1
    }
  }
  if (shown === 0) lines.push('', `Nothing yet in ${scopes.join(' and ')}.`)
  else if (shown < total) lines.push('', `${total - shown} more; look for them with memory_search.`)
  return `${lines.join('\n')}\n`
}

async function readable(call: AgentCall, written: string, href: string): Promise<Belief> {
  const id = decodePart(written)
  if (id === null) throw new ResourceNotFoundError(href)
  const belief = await findBeliefInView(call, id, undefined).catch((error: unknown) => {
    const isNone = error instanceof MemoryError && (error.code === 'not_found' || error.code === 'conflict')
    throw isNone ? new ResourceNotFoundError(href) : error
  })
  // Only ids are allowed in URIs, because a name may later belong to a different belief.
  if (belief.id !== id) throw new ResourceNotFoundError(href)
  return belief
}

/** Decodes a part of a URI; null if it is badly encoded. */
function decodePart(part: string): string | null {
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
