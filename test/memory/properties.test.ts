import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { authorityOf, type Belief, isCurrent } from '../../src/beliefs/belief.ts'
import { nameKey } from '../../src/beliefs/identity.ts'
import { forget } from '../../src/memory/change/forget.ts'
import { undo } from '../../src/memory/change/undo.ts'
import { readChain } from '../../src/memory/explain/history.ts'
import type { Author, Ports } from '../../src/memory/ports.ts'
import { recall } from '../../src/memory/recall/recall.ts'
import { search } from '../../src/memory/recall/search.ts'
import { exportBeliefs } from '../../src/memory/transfer/export.ts'
import { importBeliefs } from '../../src/memory/transfer/import.ts'
import { formKeys } from '../../src/search/forms.ts'
import { person, ports } from '../recall/fixtures.ts'
import { agent, everything, importer, lasting, otherAgent } from './fixtures.ts'
import { operation, operations, perform, performAll, pointedAt } from './operations.ts'

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
const state = async (memory: Ports) => (await everything(memory)).map(lasting).sort(byId)
const fileOf = async (memory: Ports): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const belief of exportBeliefs(memory, { user: 'ann' })) lines.push(JSON.stringify(belief))
  return lines
}
const take = (memory: Ports, lines: readonly string[], author: Author = person) =>
  importBeliefs(memory, {
    user: 'ann',
    author,
    trusted: true,
    source: 'file',
    scopes: ['domain:code'],
    text: lines.join('\n'),
  })

describe('identity', () => {
  it('gives every name in every scope at most one current belief', async () => {
    await fc.assert(
      fc.asyncProperty(operations(), async (all) => {
        const memory = ports()
        for (const one of all) {
          await perform(memory, one)
          const held = (await everything(memory))
            .filter(isCurrent)
            .flatMap(({ name, scopes }) => scopes.map((scope) => `${scope} ${nameKey(name)}`))

          expect(new Set(held).size).toBe(held.length)
        }
      }),
      { numRuns: 80 },
    )
  })
})

describe('supersession', () => {
  it('has no cycles, and one current head in every chain, after any statements, corrections and undos', async () => {
    await fc.assert(
      fc.asyncProperty(operations(['remember', 'correct', 'undo'], [person]), async (all) => {
        const memory = ports()
        await performAll(memory, all)
        for (const belief of await everything(memory)) {
          const chain = await readChain(memory, belief)
          const heads = chain.filter(({ supersededBy }) => supersededBy === null)

          expect(heads).toHaveLength(1)
          expect(isCurrent(heads[0] as Belief)).toBe(true)
          expect(chain.at(-1)).toEqual(heads[0])
        }
      }),
      { numRuns: 80 },
    )
  })

  it('terminates, and shows in the status, after any operations', async () => {
    await fc.assert(
      fc.asyncProperty(operations(), async (all) => {
        const memory = ports()
        await performAll(memory, all)
        const beliefs = new Map((await everything(memory)).map((belief) => [belief.id, belief]))
        for (const belief of beliefs.values()) {
          expect(belief.status === 'superseded').toBe(belief.supersededBy !== null)
          if (belief.proposedFor !== null) expect(belief.status).toBe('exploratory')
          const path = new Set<string>()
          for (let at: Belief | undefined = belief; at !== undefined; at = beliefs.get(at.supersededBy ?? '')) {
            expect(path).not.toContain(at.id)
            path.add(at.id)
          }
        }
      }),
      { numRuns: 80 },
    )
  })
})

describe('undo', () => {
  it('restores the exact state, and undoing the undo restores it again', async () => {
    let undone = 0
    await fc.assert(
      fc.asyncProperty(operations(), operation(), async (before, one) => {
        const memory = ports()
        await performAll(memory, before)
        const earlier = await state(memory)
        const [last] = await memory.store.events('ann', { limit: 1 })
        await perform(memory, one)
        const [event] = await memory.store.events('ann', { limit: 1 })
        fc.pre(event !== undefined && event.number !== last?.number && event.kind !== 'forget')
        const later = await state(memory)

        const back = await undo(memory, { user: 'ann', author: person, event: event.number })
        expect(await state(memory)).toEqual(earlier)
        const again = await undo(memory, { user: 'ann', author: person, event: back.event })
        expect(await state(memory)).toEqual(later)
        await undo(memory, { user: 'ann', author: person, event: again.event })
        expect(await state(memory)).toEqual(earlier)
        undone += 1
      }),
      { numRuns: 80 },
    )
    expect(undone).toBeGreaterThan(30)
  })

  it('repeated goes back to the last change that cannot be undone', async () => {
    await fc.assert(
      fc.asyncProperty(operations(['remember', 'correct', 'pin', 'addAlias', 'accept', 'undo']), async (all) => {
        const memory = ports()
        await performAll(memory, all)
        for (let steps = 0; (await memory.store.lastUndoable('ann')) !== null; steps += 1) {
          expect(steps).toBeLessThan(all.length)
          await undo(memory, { user: 'ann', author: person })
        }

        expect(await everything(memory)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})

describe('authority', () => {
  it('protects every statement of a person from all operations of agents, and recall with it', async () => {
    const lowly = [agent, otherAgent, { actor: 'tool', origin: 'ci' } as const]
    const untouched = ({ reinforcement: _reinforcement, ...belief }: ReturnType<typeof lasting>) => belief
    const byPerson = async (memory: Ports) =>
      (await everything(memory))
        .filter((belief) => authorityOf(belief) === 'person')
        .map(lasting)
        .map(untouched)
        .sort(byId)
    await fc.assert(
      fc.asyncProperty(operations(), operations(undefined, lowly), async (before, after) => {
        const memory = ports()
        await performAll(memory, before)
        const written = await byPerson(memory)
        await performAll(memory, after)

        const still = await byPerson(memory)
        expect(still.filter(({ id }) => written.some((known) => known.id === id))).toEqual(written)
        expect(still).toHaveLength(written.length)
      }),
      { numRuns: 80 },
    )
  })

  it('protects statements of a document from models, and those of a person from documents', async () => {
    const kept = (beliefs: readonly Belief[], author: string) =>
      beliefs
        .filter((belief) => authorityOf(belief) === author)
        .map(({ id, content, aliases, pinned, status }) => ({ id, content, aliases, pinned, status }))
        .sort(byId)
    for (const [below, above] of [
      [[agent], 'import'],
      [[importer], 'person'],
    ] as const) {
      await fc.assert(
        fc.asyncProperty(operations(), operations(undefined, below), async (before, after) => {
          const memory = ports()
          await performAll(memory, before)
          const written = kept(await everything(memory), above)
          await performAll(memory, after)

          expect(kept(await everything(memory), above)).toEqual(written)
        }),
        { numRuns: 60 },
      )
    }
  })

  it('keeps every proposal out of every tier of recall', async () => {
    await fc.assert(
      fc.asyncProperty(operations(), async (all) => {
        const memory = ports()
        await performAll(memory, all)
        const message = 'db cache tone of voice pg storage'
        const scopes = ['domain:code', 'project:ledger', 'user:universal']
        const { pinned, relevant, questions, prelude } = await recall(memory, { user: 'ann', scopes, message })
        const shown = new Set([
          ...pinned.map(({ id }) => id),
          ...relevant.map(({ belief }) => belief.id),
          ...questions.map(({ id }) => id),
          ...(prelude?.beliefIds ?? []),
        ])
        const hidden = (await everything(memory)).filter((belief) => !isCurrent(belief))

        for (const { id } of hidden) expect(shown).not.toContain(id)
      }),
      { numRuns: 60 },
    )
  })
})

describe('forgetting', () => {
  it('leaves nothing of a belief in any read path', async () => {
    await fc.assert(
      fc.asyncProperty(operations(), fc.nat(20), async (all, nth) => {
        const memory = ports()
        const { store } = memory
        await performAll(memory, all)
        const beliefs = await everything(memory)
        fc.pre(beliefs.length > 0)
        const doomed = beliefs[nth % beliefs.length] as Belief
        const { beliefIds } = await forget(memory, { user: 'ann', author: person, reference: doomed.id })

        expect(beliefIds).toContain(doomed.id)
        const keys = [doomed.name, ...doomed.aliases].flatMap((form) => formKeys(form).map(({ key }) => key))
        const found = await search(memory, {
          user: 'ann',
          query: `${doomed.content} ${doomed.name} ${doomed.aliases.join(' ')}`,
          includeRetired: true,
          limit: 100,
        })
        const reachable = [
          ...(await everything(memory)).map(({ id }) => id),
          ...(await store.named('ann', doomed.name)).map(({ id }) => id),
          ...[...(await store.everyHolder('ann', keys)).values()].flat(),
          ...found.beliefs.map(({ belief }) => belief.id),
          ...(await fileOf(memory)).map((line) => JSON.parse(line).id),
        ]
        for (const id of beliefIds) {
          expect(reachable).not.toContain(id)
          expect(await store.get('ann', id)).toBeNull()
          for (const { belief, event } of await store.history('ann', id)) {
            expect(belief).toBeNull()
            const revisions = await store.revisions('ann', event.number)
            expect(revisions.find(({ beliefId }) => beliefId === id)?.belief).toBeNull()
          }
        }
      }),
      { numRuns: 80 },
    )
  })

  it('leaves no copy of the text in the journal either', async () => {
    // Without reject and undo, because withdrawn beliefs can only be forgotten by id.
    const kinds = ['correct', 'pin', 'unpin', 'addAlias', 'setWhy', 'accept', 'reinforce'] as const
    await fc.assert(
      fc.asyncProperty(operations(kinds), fc.nat(20), async (all, nth) => {
        const memory = ports()
        const unique = all.map((one, index) => ({ ...one, content: `statement ${index} of many` }))
        await performAll(memory, unique)
        const beliefs = (await everything(memory)).filter(({ proposedFor }) => proposedFor === null)
        fc.pre(beliefs.length > 0)
        const { id, content } = beliefs[nth % beliefs.length] as Belief
        await forget(memory, { user: 'ann', author: person, reference: id })

        const events = await memory.store.events('ann', { limit: 1_000 })
        const revisions = await Promise.all(events.map(({ number }) => memory.store.revisions('ann', number)))
        const said = revisions.flat().flatMap(({ belief }) => (belief === null ? [] : [belief.content]))
        expect(said).not.toContain(content)
      }),
      { numRuns: 80 },
    )
  })
})

describe('a key', () => {
  it('gives a request that is sent twice one effect, and is refused for any other', async () => {
    const kinds = ['correct', 'pin', 'unpin', 'reinforce', 'addAlias', 'removeAlias', 'setWhy', 'forget'] as const
    let repeated = 0
    await fc.assert(
      fc.asyncProperty(operations(), operation(kinds), operation(kinds), async (before, a, b) => {
        const memory = ports()
        await performAll(memory, before)
        const [latest] = await memory.store.events('ann', { limit: 1 })
        const keyed = { key: 'k', reference: await pointedAt(memory, a) }
        await perform(memory, { ...a, ...keyed })
        const [event] = await memory.store.events('ann', { limit: 1 })
        fc.pre(event !== undefined && event.number !== latest?.number)
        const after = await everything(memory)

        expect(await perform(memory, { ...a, ...keyed })).toBeNull()
        if (b.kind !== a.kind) expect(await perform(memory, { ...a, kind: b.kind, ...keyed })).toBe('conflict')
        expect(await perform(memory, { ...a, author: { actor: 'person', origin: 'else' }, ...keyed })).toBe('conflict')
        expect(await everything(memory)).toEqual(after)
        expect((await memory.store.events('ann', { limit: 1 }))[0]).toEqual(event)
        repeated += 1
      }),
      { numRuns: 80 },
    )
    expect(repeated).toBeGreaterThan(30)
  })
})

describe('an export', () => {
  it('imported into an empty memory gives the same memory, and importing it again changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(operations(), async (all) => {
        const memory = ports()
        await performAll(memory, all)
        const lines = await fileOf(memory)
        fc.pre(lines.length > 0)
        const copy = ports()

        expect(await take(copy, lines)).toMatchObject({ added: lines.length, warnings: [] })
        const timeless = (belief: Belief) => ({ ...belief, version: 0 })
        expect((await everything(copy)).map(timeless).sort(byId)).toEqual(
          (await everything(memory)).map(timeless).sort(byId),
        )
        expect(await take(copy, lines)).toMatchObject({ unchanged: lines.length, events: [], warnings: [] })
      }),
      { numRuns: 60 },
    )
  })

  it('imported into its own memory changes nothing, whoever imports it', async () => {
    await fc.assert(
      fc.asyncProperty(operations(), fc.constantFrom(person, importer, agent), async (all, author) => {
        const memory = ports()
        await performAll(memory, all)
        const lines = await fileOf(memory)
        fc.pre(lines.length > 0)

        expect(await take(memory, lines, author)).toMatchObject({ unchanged: lines.length, events: [], warnings: [] })
      }),
      { numRuns: 60 },
    )
  })

  it('of an earlier state never restores what was superseded or resolved since', async () => {
    await fc.assert(
      fc.asyncProperty(
        operations(),
        operations(),
        fc.constantFrom(person, importer, agent),
        async (one, two, author) => {
          const memory = ports()
          await performAll(memory, one)
          const lines = await fileOf(memory)
          await performAll(memory, two)
          fc.pre(lines.length > 0)
          const retired = (await everything(memory)).filter(
            ({ supersededBy, resolvedAt }) => supersededBy !== null || resolvedAt !== null,
          )
          await take(memory, lines, author)

          for (const { id } of retired) expect(isCurrent((await memory.store.get('ann', id)) as Belief)).toBe(false)
        },
      ),
      { numRuns: 60 },
    )
  })
})
