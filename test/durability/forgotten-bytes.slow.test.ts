import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Memory, openMemory } from '../../src/index.ts'
import { storeFile } from '../../src/open-memory.ts'
import { count } from '../full-counts.ts'
import { chance, complaintsOf, temporaryDirectory } from './durable-store.ts'

const memories = count(1_000)

/** A word that occurs nowhere else, and that is not one typo away from another word. */
const canaryOf = (number: number): string =>
  `zq${Array.from(hash('sha256', String(number), 'buffer').subarray(0, 10), (byte) => String.fromCharCode(97 + (byte % 26))).join('')}`

const numbers = Array.from({ length: memories }, (_, number) => number)
/** Of every three canaries, one is forgotten by id, one by its words, and one is kept. */
const treatmentOf = (number: number): 'by id' | 'by words' | 'kept' =>
  (['by id', 'by words', 'kept'] as const)[number % 3] ?? 'kept'

async function filled(dir: string): Promise<Memory> {
  const memory = openMemory({ dir, mirror: true })
  const random = chance(30)
  for (const number of numbers) {
    const canary = canaryOf(number)
    await memory.remember({
      name: `name ${canary}`,
      aliases: [`alias ${canary}`],
      content: `The content is ${canary}, and ${'more words '.repeat(Math.floor(random() * 200))}.`,
      why: `Because of ${canary}.`,
    })
    await memory.hear({ text: `They said ${canary} to me.`, role: 'user', session: `s${number % 7}` })
  }
  return memory
}

/** Everything that can be read from a memory, as one text. */
async function readable(memory: Memory, dir: string): Promise<string> {
  const parts: unknown[] = [await memory.events({ limit: 100_000, hearing: true }), await memory.list({ limit: 500 })]
  for await (const belief of memory.export()) parts.push(belief, await memory.history(belief.id))
  for await (const turn of memory.exportTurns()) parts.push(turn)
  for (const { number } of await memory.events({ limit: 100_000 })) parts.push(number)
  const files = readdirSync(dir).filter((name) => name.endsWith('.md'))
  return JSON.stringify(parts) + files.map((name) => readFileSync(join(dir, name), 'utf8')).join('')
}

describe(`forgetting ${memories} memories`, () => {
  it('leaves no readable text and no byte in any file, and a receipt in the journal', {
    timeout: 1_800_000,
  }, async () => {
    using directory = temporaryDirectory()
    const dir = join(directory.path, 'memory')
    const memory = await filled(dir)
    const receipts: { readonly event: number | null; readonly hash: string | null }[] = []

    for (const number of numbers) {
      const canary = canaryOf(number)
      if (treatmentOf(number) === 'by words') receipts.push(await memory.forgetTurns({ containing: canary }))
      if (treatmentOf(number) !== 'by id') continue
      receipts.push(await memory.forget((await memory.get(`name ${canary}`)).id))
      receipts.push(await memory.forgetTurns({ containing: canary }))
      const context = await memory.recall(`name ${canary} alias ${canary}`, { nearMisses: true })
      expect([context.relevant, context.nearMisses]).toEqual([[], []])
      expect((await memory.search(canary)).total).toBe(0)
    }

    const text = (await readable(memory, dir)).toLowerCase()
    const events = new Map((await memory.events({ limit: 100_000 })).map(({ number, hash }) => [number, hash]))
    for (const { event, hash } of receipts) expect(events.get(event ?? -1)).toBe(hash)
    await memory.close()
    const bytes = readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1').toLowerCase())
    const isLeft = (number: number): boolean =>
      text.includes(canaryOf(number)) || bytes.some((file) => file.includes(canaryOf(number)))
    // The same search finds the kept text, so it would have found a forgotten one.
    expect(numbers.filter((number) => treatmentOf(number) === 'kept' && !isLeft(number))).toEqual([])
    expect(numbers.filter((number) => treatmentOf(number) !== 'kept' && isLeft(number))).toEqual([])
    expect(await complaintsOf(storeFile(dir))).toEqual([])
  })
})
