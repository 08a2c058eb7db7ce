import { describe, expect, it } from 'vitest'
import { summarise } from '../../../src/eval/report/retrieval-report.ts'
import { explanationOf, idsIn } from '../../../src/eval/runners/retrieval/retrieval-runner.ts'
import type { PackRun } from '../../../src/eval/runners/retrieval/run-pack.ts'
import { httpSystem } from '../../../src/eval/system/outside/http-system.ts'
import { listenOnLoopback } from '../../../src/http/listen.ts'
import { recallApp } from '../../../src/http/recall-app.ts'
import { backends, packOf, runWith } from './sample-packs.ts'

const bugs: unknown[] = []
const ourApp = () =>
  recallApp({
    system: backends.ours(),
    now: () => new Date(0),
    newId: () => 'unused',
    onBug: (error) => bugs.push(error),
  })

/** Credence served on a real local port. */
async function served() {
  const listening = await listenOnLoopback(ourApp().fetch, 0)
  return { url: listening.url, [Symbol.asyncDispose]: () => listening.close() }
}

/** All results of a run by case: ids, order, scores and clauses. */
const foundIn = ({ outcomes }: PackRun) =>
  outcomes.map((outcome) => {
    const { caseId, failures, error = null } = outcome
    const [pinned, questions] = ['pinned', 'question'].map((tier) => idsIn(outcome, tier))
    return { caseId, pinned, relevant: explanationOf(outcome).matches, questions, failures, error }
  })
const casesOf = ({ outcomes }: PackRun, wanted: string) =>
  outcomes.filter(({ verdict }) => verdict === wanted).map(({ caseId }) => caseId)

describe('Credence over HTTP', () => {
  it('returns the same results with the same scores as in process if it receives all fields', async () => {
    await using server = await served()
    const pack = packOf('retrieval-precision')

    const inProcess = await runWith(backends.ours(), pack)
    const overHttp = await runWith(httpSystem({ url: server.url }), pack)

    expect(foundIn(overHttp)).toEqual(foundIn(inProcess))
    expect(casesOf(overHttp, 'pass')).toHaveLength(60)
    expect(bugs).toEqual([])
  })

  it.each(['session-drift', 'retrieval-hard'])('returns the same results without a network for %s', async (id) => {
    const app = ourApp()
    const pack = packOf(id)
    const direct: typeof fetch = async (input, init) => app.request(String(input), withHost(init))

    const inProcess = await runWith(backends.ours(), pack)
    const overHttp = await runWith(httpSystem({ url: 'http://localhost', fetch: direct }), pack)

    expect(foundIn(overHttp)).toEqual(foundIn(inProcess))
    expect(bugs).toEqual([])
  })

  it('fails cases that need more than a text and one scope', async () => {
    await using server = await served()
    const pack = packOf('retrieval-precision')

    const lean = await runWith(httpSystem({ url: server.url, fullMetadata: false }), pack)

    const summary = summarise(lean.outcomes)
    expect(summary).toMatchObject({ errors: 0, totalCases: 60 })
    expect(summary.totalPassed).toBeLessThan(60)
    const failed = casesOf(lean, 'fail')
    // The external system was never sent superseded or resolved beliefs, nor the participants of a relation.
    expect(failed).toEqual(expect.arrayContaining(['type-resolved-question', 'relation-pulls-participants']))
  })
})

/** Sets the Host header, because it is set automatically only for requests over a socket. */
const withHost = (init: RequestInit | undefined): RequestInit => ({
  ...init,
  headers: { ...(init?.headers as Record<string, string>), host: 'localhost' },
})
