import { describe, expect, it } from 'vitest'
import { belief, openStore, staticCase, tickingClock } from '../../../test/eval/sample-corpus.ts'
import { readRecords } from '../../memory/transfer/belief-record.ts'
import { reportEntriesOf } from '../report/retrieval-report.ts'
import { readRetrievalCases, readSessionCases } from '../runners/retrieval/case-file.ts'
import { createdIn, findPacks, loadPack, type Pack } from '../runners/retrieval/pack.ts'
import { runPack } from '../runners/retrieval/run-pack.ts'
import { bm25System } from './bm25.ts'
import { noneSystem } from './controls.ts'
import type { AnswerHit, System, SystemAnswer } from './system.ts'
import { opaqueIds, underTest } from './under-test.ts'

const ours = () => bm25System({ openStore, version: 'test' })
const parts = { ours, clock: tickingClock() }

const recordsOf = (...beliefs: unknown[]) =>
  readRecords(
    { now: () => new Date(0), newId: () => 'unused' },
    { text: JSON.stringify(beliefs), source: 'secret-file.json', user: 'ann', scopes: [] },
  ).records.map(({ record }) => record)

/** Records all its inputs as text, and answers with `respond`. */
function spySystem(
  tiers: System['tiers'],
  respond: (given: readonly string[]) => SystemAnswer = () => empty,
): System & { readonly seen: string[] } {
  const seen: string[] = []
  const keep = (given: unknown): void => {
    seen.push(JSON.stringify(given))
  }
  return {
    ...noneSystem(),
    name: 'spy',
    tiers,
    seen,
    ingest: async (beliefs) => {
      keep(beliefs)
      return []
    },
    update: async (update) => keep(update),
    recall: async (query) => {
      keep(query)
      return respond(seen)
    },
  }
}
const empty: SystemAnswer = { prelude: null, pinned: [], relevant: [], questions: [] }
const hit = (id: string): AnswerHit => ({ id, score: null })

const markedPack = (): Pack => {
  const beliefs = recordsOf(
    belief('fixture-anchor', {
      canonical_name: 'anchor',
      content: 'Heavy.',
      provenance: { turn_id: 'fixture-turn', source_model: 'seed' },
    }),
    belief('fixture-old', {
      canonical_name: 'kedge',
      content: 'Light.',
      epistemic_status: 'superseded',
      superseded_by: 'fixture-anchor',
    }),
    belief('fixture-tackle', {
      canonical_name: 'tackle',
      content: 'All of it.',
      type: 'relation',
      participants: ['fixture-anchor', 'kedge'],
    }),
  )
  const turns = [
    {
      turnIndex: 0,
      label: 'fixture-label',
      scope: ['domain:boats'],
      userMessage: 'how heavy is the anchor?',
      assistantMessage: 'fixture-answer',
      topics: ['fixture-topic'],
      notes: 'fixture-notes',
      createBeliefAtTurn: belief('fixture-new', { canonical_name: 'windlass', content: 'New.' }),
      expect: {
        relevantBeliefs: { shouldOnlyInclude: ['fixture-anchor'] },
        personaPrelude: { mustNotContain: ['fixture-text'] },
      },
    },
    {
      turnIndex: 1,
      label: 'fixture-label',
      scope: ['domain:boats'],
      userMessage: 'and the windlass?',
      updateBeliefAtTurn: { beliefId: 'fixture-new', addAliases: ['winch'], _note: 'fixture-note' },
      expect: { noiseCheck: { mustNotSurface: ['fixture-old'] } },
    },
  ]
  const { cases } = readSessionCases('cases.json', [
    { caseId: 'fixture-case', description: 'fixture-description', turns },
  ])
  const [made] = recordsOf(cases[0]?.turns[0]?.createBelief)
  if (made === undefined) throw new Error('no belief is created')
  const ready = cases.flatMap(({ caseId, description, turns: own }) =>
    own.map(({ createBelief, updateBelief, label, ...turn }) => ({
      ...turn,
      id: `${caseId}#${turn.turnIndex}`,
      caseId,
      description,
      group: label,
      user: 'ann',
      updates: [
        ...(createBelief === null ? [] : [{ kind: 'create' as const, belief: made }]),
        ...(updateBelief === null
          ? []
          : [{ kind: 'replace' as const, belief: { ...made, aliases: updateBelief.addAliases ?? [] } }]),
      ],
    })),
  )
  return {
    kind: 'session',
    id: 'fixture-pack',
    title: 'fixture-title',
    beliefs,
    recall: {},
    hash: 'fixture-hash',
    warnings: [],
    cases: ready,
  }
}

describe('a system under test', () => {
  it.each(['all', 'relevant'] as const)(
    'with %s tiers receives only texts and messages of the fixture',
    async (tiers) => {
      const spy = spySystem(tiers)

      await runPack(markedPack(), underTest(spy, parts))

      const everything = spy.seen.join('\n')
      expect(everything).toContain('how heavy is the anchor?')
      expect(everything).toContain('winch')
      expect(everything).not.toMatch(/fixture|secret-file|expect|shouldOnly|mustNot|turnIndex|caseId/u)
    },
  )

  it.each(findPacks(new URL('../../../packs', import.meta.url).pathname))(
    'receives no id, case or description of %s',
    async (directory) => {
      const { pack } = loadPack(directory)
      const spy = spySystem('relevant')

      await runPack(pack, underTest(spy, parts))

      const everything = spy.seen.join('\n')
      const secrets = [
        ...[...pack.beliefs, ...createdIn(pack)].map(({ id }) => id),
        ...pack.cases.flatMap(({ caseId, description }) => [caseId, description]),
      ]
      expect(secrets.length).toBeGreaterThan(15)
      expect(secrets.filter((secret) => everything.includes(JSON.stringify(secret).slice(1, -1)))).toEqual([])
    },
  )

  it('keeps references between beliefs, under their opaque ids', async () => {
    const spy = spySystem('all')

    await runPack(markedPack(), underTest(spy, parts))

    const [anchor, old, tackle] = JSON.parse(spy.seen[0] as string)
    expect(old.supersededBy).toBe(anchor.id)
    expect(tackle.participants).toEqual([anchor.id, 'kedge'])
    const update = JSON.parse(spy.seen.at(-1) as string)
    const created = JSON.parse(spy.seen[2] as string)
    expect(update.belief.id).toBe(created.belief.id)
  })

  it('cannot pass by knowing the fixture: ids that it was not given count as noise', async () => {
    const cheat = spySystem('relevant', () => ({ ...empty, relevant: [hit('fixture-anchor')] }))

    const run = await runPack(markedPack(), underTest(cheat, parts))

    expect(reportEntriesOf(run)[0]).toMatchObject({
      passed: false,
      retrievedBeliefIds: ['unknown:fixture-anchor'],
      retrievalPrecision: 0,
    })
  })

  it('passes if it answers with the ids that it was given', async () => {
    const honest = spySystem('relevant', ([corpus]) => ({
      ...empty,
      relevant: [hit(JSON.parse(corpus as string)[0].id)],
    }))

    const run = await runPack(markedPack(), underTest(honest, parts))

    expect(reportEntriesOf(run)[0]).toMatchObject({ passed: true, retrievedBeliefIds: ['fixture-anchor'] })
  })
})

describe('a system that only finds relevant beliefs', () => {
  const beliefs = recordsOf(
    belief('a', { canonical_name: 'anchor' }),
    belief('b', { canonical_name: 'bow' }),
    belief('p', { canonical_name: 'pin', pinned: true }),
    belief('q', { canonical_name: 'question', type: 'open_question', pinned: true }),
    belief('u', {
      canonical_name: 'brevity',
      type: 'preference',
      scope: ['user:universal'],
      content: 'Wants short answers.',
    }),
  )
  const packWith = (fields: Readonly<Record<string, unknown>>): Pack => {
    const { cases } = readRetrievalCases('cases.json', [
      staticCase('c', 'all of it', { relevantBeliefs: { maxCount: 9 } }, fields),
    ])
    return {
      kind: 'retrieval',
      id: 'p',
      title: 'P',
      beliefs,
      recall: {},
      hash: 'h',
      warnings: [],
      cases: cases.map((one) => ({ ...one, user: 'ann' })),
    }
  }
  /** Returns every belief of the corpus. */
  const greedy = () =>
    spySystem('relevant', ([corpus]) => ({
      ...empty,
      relevant: JSON.parse(corpus as string).map(({ id }: { id: string }) => hit(id)),
    }))

  it('gets prelude, pins and questions from our own recall, and its pinned hits are dropped', async () => {
    const run = await runPack(packWith({}), underTest(greedy(), parts))

    expect(run.system.hasSuppliedTiers).toBe(true)
    expect(reportEntriesOf(run)[0]).toMatchObject({
      pinnedBeliefs: ['p'],
      retrievedQuestions: ['q'],
      relevantBeliefs: ['a', 'b', 'u'],
    })
    expect(reportEntriesOf(run)[0]?.personaPrelude).toContain('Wants short answers.')
  })

  it('has the same budget as ours, by count and by length', async () => {
    const byCount = await runPack(packWith({ budget: { maxBeliefs: 2 } }), underTest(greedy(), parts))
    const byLength = await runPack(packWith({ budget: { maxCharacters: 90 } }), underTest(greedy(), parts))

    expect(reportEntriesOf(byCount)[0]).toMatchObject({ pinnedBeliefs: ['p'], relevantBeliefs: ['a'] })
    expect(reportEntriesOf(byLength)[0]).toMatchObject({ pinnedBeliefs: ['p'], relevantBeliefs: ['a'] })
  })
})

describe('opaqueIds', () => {
  it('are the same for the same salt, and different for another', () => {
    const [one] = recordsOf(belief('b-anchor'))
    if (one === undefined) throw new Error('no belief')
    const hide = (salt: string) => opaqueIds(['b-anchor'], salt).hideBelief(one).id

    expect(hide('x')).toBe(hide('x'))
    expect(hide('x')).not.toBe(hide('y'))
    expect(hide('x')).not.toContain('anchor')
  })

  it('are mapped back to the original ids, once each, with unknown ids marked', () => {
    const [one] = recordsOf(belief('b-anchor'))
    if (one === undefined) throw new Error('no belief')
    const ids = opaqueIds(['b-anchor'], 'salt')
    const { id } = ids.hideBelief(one)

    const revealed = ids.revealAnswer({
      prelude: null,
      pinned: [id, id],
      relevant: [hit(id), hit('x'), hit(id)],
      questions: [],
      nearMisses: [{ id, reason: `superseded by ${id}` }],
    })

    expect(revealed).toMatchObject({
      pinned: ['b-anchor'],
      relevant: [{ id: 'b-anchor' }, { id: 'unknown:x' }],
      nearMisses: [{ id: 'b-anchor', reason: 'superseded by b-anchor' }],
    })
  })
})
