import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { CaseOutcome } from '../../../src/eval/run/run.ts'
import { conversationRunner } from '../../../src/eval/runners/conversation/conversation-runner.ts'
import { openTurnSystem } from '../../../src/eval/runners/conversation/turn-systems.ts'
import { openPackFolder } from '../../../src/eval/runners/runner.ts'
import { httpSystem } from '../../../src/eval/system/outside/http-system.ts'
import { describeHearing } from '../../../src/eval/system/system.contract.ts'
import { answer, scriptedServer } from './scripted-http-server.ts'

type Added = { readonly text: string; readonly metadata: { readonly beliefId: string } }
type Search = { readonly query: string; readonly limit: number }

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/\p{L}{3,}/gu) ?? []

/** A memory that ranks stored turns by the number of words they share with a question. */
function wordServer() {
  let told: Added[] = []
  return scriptedServer(({ path, body }, response) => {
    if (path === '/reset') told = []
    if (path === '/add') told.push(body as Added)
    if (path !== '/search') return answer(response, {})
    const { query, limit } = body as Search
    const words = new Set(wordsOf(query))
    const results = told
      .map(({ text, metadata }) => ({
        id: metadata.beliefId,
        score: wordsOf(text).filter((one) => words.has(one)).length,
      }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
    answer(response, { results: results.slice(0, limit) })
  })
}

describeHearing('http', async () => {
  const server = await wordServer()
  return { ...httpSystem({ url: server.url }), close: () => server[Symbol.asyncDispose]() }
})

const parts = {
  open: () => Promise.reject(new Error('Credence is not asked.')),
  openEmbedder: () => Promise.reject(new Error('No test needs a model.')),
  version: 'test',
}

async function outcomesOver(url: string, pack: string) {
  const kind = conversationRunner({ open: (name) => openTurnSystem(name, parts), data: undefined, clock: () => 0 })
  const directory = fileURLToPath(new URL(`../../../packs/${pack}`, import.meta.url))
  const benchmark = await openPackFolder(directory, [kind], { system: `http:${url}` })
  const wanted = new Set(benchmark.cases.map(({ id }) => id))
  const request = { repeat: 0, seed: 1, jobs: 1, signal: new AbortController().signal, folder: null, wanted }
  const outcomes: CaseOutcome[] = []
  for await (const outcome of benchmark.execute(request)) outcomes.push(outcome)
  return { outcomes, wanted }
}

describe('a conversation pack on a memory with HTTP', () => {
  it('is answered, case by case', async () => {
    await using server = await wordServer()

    const { outcomes, wanted } = await outcomesOver(server.url, 'locomo')

    expect(outcomes.map(({ caseId }) => caseId)).toEqual([...wanted])
    expect(outcomes.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThan(0)
    expect(outcomes.filter(({ verdict }) => verdict === 'error')).toEqual([])
  })

  it('sends turns with session, speaker and time, and questions with their time', async () => {
    await using server = await wordServer()

    await outcomesOver(server.url, 'locomo')

    const [about, reset, added] = server.asked
    expect(about).toMatchObject({ method: 'GET', path: '/about' })
    expect(reset).toMatchObject({ method: 'DELETE', path: '/reset' })
    expect(added).toMatchObject({
      path: '/add',
      body: {
        text: expect.any(String),
        user_id: 'person',
        metadata: {
          beliefId: 's1-0',
          scope: 'project:suite',
          type: 'turn',
          session_id: 's1',
          index: 0,
          role: 'user',
          speaker: expect.any(String),
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/u),
        },
      },
    })
    expect(server.asked.at(-1)).toMatchObject({
      path: '/search',
      body: { query: expect.any(String), limit: 100, scopes: ['project:suite'], at: expect.stringMatching(/^\d{4}-/u) },
    })
  })

  it('has an error for every case if the server does not answer', async () => {
    const server = await wordServer()
    await server[Symbol.asyncDispose]()

    const { outcomes, wanted } = await outcomesOver(server.url, 'locomo')

    expect(outcomes.map(({ verdict }) => verdict)).toEqual([...wanted].map(() => 'error'))
    expect(outcomes[0]?.error?.message).toContain('could not be stored: DELETE http')
  })
})
