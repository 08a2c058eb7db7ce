import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { memoryFrom } from '../../memory/memory.ts'
import { RecallCounter } from '../../memory/recall/tally.ts'
import { inMemory } from '../../store/sqlite/database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { openProxyMemory } from './proxy-memory.ts'

it('loads the model before its first recall when it warms up, and counts no recall', async () => {
  const store = openSqliteStore({ file: inMemory, random: randomBytes })
  const counter = new RecallCounter(store)
  const events: string[] = []
  const embed = async (texts: readonly string[]) => {
    events.push('embedded')
    return texts.map(() => Float32Array.of(1))
  }
  const embedder = async () => ({ model: 'scripted', dimensions: 1, embed })
  // A recall itself does not wait for the model.
  const meaning = { embedder, recallByMeaning: true, recallWaitMs: 0 }
  const ports = { store, now: () => new Date(), newId: () => 'b-1', counter, counts: store, ...meaning }
  const author = { actor: 'person', origin: 'test' } as const
  const memory = memoryFrom(ports, { user: 'ada', scopes: ['project:a'], agent: null, author })
  await memory.remember({ content: 'The kayak is red.', name: 'kayak' })
  await memory.embedTexts()
  events.length = 0
  const recall: typeof memory.recall = (...given) => {
    events.push('recalled')
    return memory.recall(...given)
  }
  const proxied = openProxyMemory({ open: () => ({ ...memory, recall }), maxTurnCharacters: 1_000 })

  await proxied.warmUp({ user: 'ada', scopes: ['project:a'], homeScopes: ['project:a'] })
  await counter.flush()

  expect(events[0]).toBe('embedded')
  expect(events).toContain('recalled')
  expect(await store.recallDays('ada')).toEqual([])
  await memory.close()
})
