import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inMemory } from '../../store/sqlite/database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { type Memory, memoryFrom } from '../memory.ts'
import { defaultBudget } from '../recall/context.ts'
import { joinMemories, teamMemory, teamPorts } from './team-memory.ts'

const names = ['heron', 'otter', 'lynx', 'badger', 'heron nest']
const statement = fc.record({
  name: fc.constantFrom(...names),
  content: fc.string({ maxLength: 40 }),
  pinned: fc.boolean(),
})
const statements = fc.array(statement, { maxLength: 12 })

/** Memories of one person and two teams in one store. */
async function memories(own: readonly Said[], ...teams: readonly (readonly Said[])[]) {
  let ids = 0
  const now = () => new Date('2026-05-04T09:00:00Z')
  const ports = { store: openSqliteStore({ file: inMemory, random: randomBytes }), now, newId: () => `b-${++ids}` }
  const author = { actor: 'person', origin: 'test' } as const
  const person = memoryFrom(ports, { user: 'ana', scopes: ['user:universal'], agent: null, author })
  await rememberAll(person, own)
  const joined = new Map<string, Memory>()
  for (const [number, said] of teams.entries()) {
    const user = `team:t${number}`
    const memory = memoryFrom(teamPorts(ports, `t${number}`), { user, scopes: [user], agent: null, author })
    await rememberAll(memory, said)
    joined.set(`t${number}`, memory)
  }
  return { person, joined, both: joinMemories({ own: person, teams: joined }) }
}

type Said = { readonly name: string; readonly content: string; readonly pinned: boolean }

async function rememberAll(memory: Memory, said: readonly Said[]): Promise<void> {
  for (const { name, content, pinned } of said) {
    const { belief } = await memory.remember({ name, content: `x${content}`, type: 'entity' })
    if (pinned) await memory.pin(belief.id)
  }
}

const message = 'Is the heron near the otter, the lynx or the heron nest?'

describe('a recall of a member', () => {
  it('scores each line as its own memory does, within one budget', async () => {
    await fc.assert(
      fc.asyncProperty(statements, statements, statements, fc.nat(8), async (own, one, two, maxBeliefs) => {
        const { person, joined, both } = await memories(own, one, two)
        const alone = await Promise.all([person, ...joined.values()].map((memory) => memory.recall(message)))
        const scores = new Map(alone.flatMap(({ relevant }) => relevant).map((hit) => [hit.belief.id, hit.score]))

        const whole = await both.recall(message, { budget: { maxBeliefs: 100, maxPinned: 100 } })
        const small = await both.recall(message, { budget: { maxBeliefs } })

        expect(new Map(whole.relevant.map((hit) => [hit.belief.id, hit.score]))).toEqual(scores)
        expect(whole.relevant.map(({ score }) => score)).toEqual([...scores.values()].sort((a, b) => b - a))
        expect(small.pinned.length + small.relevant.length).toBeLessThanOrEqual(maxBeliefs)
        // Pinned beliefs of teams do not crowd out the person's.
        const room = Math.min(maxBeliefs, defaultBudget.maxPinned)
        const ownPins = alone[0]?.pinned.slice(0, room) ?? []
        expect(small.pinned.slice(0, ownPins.length)).toEqual(ownPins)
      }),
      { numRuns: 40 },
    )
  })

  it('is the recall of the person alone if there are no teams, and reads only the named scopes', async () => {
    await fc.assert(
      fc.asyncProperty(statements, statements, async (own, one) => {
        const { person, both, joined } = await memories(own, one)
        const without = joinMemories({ own: person, teams: new Map() })
        const named = await both.recall(message, { scopes: ['user:universal'] })
        const ofTeam = await both.recall(message, { scopes: ['team:t0'] })
        const alone = await person.recall(message)

        expect(await without.recall(message)).toEqual(alone)
        expect(named).toEqual(alone)
        expect(ofTeam.relevant).toEqual((await joined.get('t0')?.recall(message))?.relevant)
      }),
      { numRuns: 20 },
    )
  })
})

it('a team stores beliefs only in its scopes, for any call', async () => {
  const { joined } = await memories([], [{ name: 'heron', content: 'a bird', pinned: false }])
  const team = joined.get('t0') as Memory
  const { id } = await team.get('heron')

  await expect(team.edit(id, { scopes: ['user:universal'] })).rejects.toThrow('not one of the team')
  await expect(team.edit(id, { scopes: ['team:t1'] })).rejects.toThrow('not one of the team')
  await expect(team.edit(id, { scopes: ['team:t0x'] })).rejects.toThrow('not one of the team')
  await expect(team.remember({ content: 'Elsewhere.', scopes: ['team:t0', 'domain:code'] })).rejects.toThrow(
    'not one of',
  )
  expect((await team.edit(id, { scopes: ['team:t0/api'] })).belief.scopes).toEqual(['team:t0/api'])
})

it('a reader cannot change and a writer cannot forget', async () => {
  const { joined } = await memories([], [{ name: 'heron', content: 'a bird', pinned: false }])
  const team = joined.get('t0') as Memory
  const reader = teamMemory(team, { team: 't0', role: 'reader' })
  const writer = teamMemory(team, { team: 't0', role: 'writer' })

  await expect(reader.remember({ content: 'No.' })).rejects.toMatchObject({ code: 'forbidden' })
  await expect(writer.forget('heron')).rejects.toMatchObject({ code: 'forbidden' })
  await expect(writer.hear({ text: 'No.' })).rejects.toMatchObject({ code: 'forbidden' })
  expect((await reader.get('heron')).content).toBe('xa bird')
  expect((await writer.remember({ name: 'lynx', content: 'A cat.' })).belief.user).toBe('team:t0')
})

it("a turn said in a scope of a team is stored in the person's own memory, never in the team's", async () => {
  const { both } = await memories([], [])

  const { turns } = await both.hear({ text: 'The heron nests.' }, { scopes: ['team:t0', 'project:pond'] })
  const alone = await both.hear({ text: 'The otter swims.' }, { scopes: ['team:t0'] })

  expect([...turns, ...alone.turns].map(({ turn }) => [turn?.user, turn?.scope])).toEqual([
    ['ana', 'project:pond'],
    ['ana', 'user:universal'],
  ])
})
