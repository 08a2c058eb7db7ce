import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { unavailable } from '../../errors.ts'
import { openMemory, openPorts } from '../../open-memory.ts'
import type { Embedder } from '../../search/embedder.ts'
import { recompute } from '../../search/explanation.ts'
import { memoryFrom } from '../memory.ts'
import type { PerhapsBelief } from '../recall/context.ts'
import { renderContext } from '../recall/render.ts'
import { saidBy } from './meaning.ts'

/** A memory on disk with the real model. */
function memory(vectors: boolean) {
  const dir = mkdtempSync(join(tmpdir(), 'credence-meaning-'))
  const opened = openMemory({ dir, semantic: vectors ? 'on' : 'off' })
  return {
    dir,
    opened,
    [Symbol.asyncDispose]: () => opened.close().then(() => rmSync(dir, { recursive: true, force: true })),
  }
}
const turns = [
  { text: 'My doctor said the results of the blood test are fine.', session: 'a' },
  { text: 'The physician who treats my knee has moved his practice to Bergen.', session: 'b' },
  { text: 'My test suite for the parser has results that differ by machine.', session: 'c' },
]
const question = 'What were the results of my medical test?'
const author = { actor: 'person', origin: 'test' } as const

describe('the vectors of sentences', () => {
  it('are compared with the question as the named person would ask it', () => {
    expect(saidBy('Ana', 'Where did Ana buy Ana’s kayak?')).toBe('Where did I buy my kayak?')
    expect(saidBy('Ana Li', "What is Ana Li's dog called, and does Anabel like it?")).toBe(
      'What is my dog called, and does Anabel like it?',
    )
    expect(saidBy('A.J. (home)', 'When did A.J. call?')).toBe('When did I call?')
    expect(saidBy(null, 'Where did Ana go?')).toBe('Where did Ana go?')
  })

  it('are compared with a typical value, so that the nearest of three turns scores as among many', async () => {
    await using place = memory(true)
    await place.opened.hear(turns, { learn: 'nothing' })
    await place.opened.embedTexts()

    const [best] = (await place.opened.search(question)).quotes
    const meaning = best?.explanation.parts.find(({ label }) => label === 'meaning')

    // Of three values, none can be more than √2 standard deviations above their mean, so it was not compared with these three alone.
    expect(best?.text).toBe(turns[0]?.text)
    expect(meaning?.parts[0]?.value).toBeGreaterThan(3)
  })

  it('find turns without a word of the question, and are part of the score', async () => {
    await using place = memory(true)
    await place.opened.hear(turns, { learn: 'nothing' })
    const before = (await place.opened.search(question)).quotes

    expect(await place.opened.embedTexts()).toEqual({ embedded: 3 })
    expect(await place.opened.embedTexts()).toEqual({ embedded: 0 })
    const after = (await place.opened.search(question)).quotes

    expect(before.some(({ explanation }) => JSON.stringify(explanation).includes('meaning'))).toBe(false)
    const [best] = [...after].sort((a, b) => b.score - a.score)
    expect(best?.text).toBe(turns[0]?.text)
    for (const { score, explanation } of after) {
      expect(JSON.stringify(explanation)).toContain('"label":"meaning"')
      expect(recompute(explanation)).toBeCloseTo(score, 10)
    }
    const physician = turns[1]?.text
    expect(before.map(({ text }) => text)).not.toContain(physician)
    expect(after.map(({ text }) => text)).toContain(physician)
  })

  it('order a search as of a time too', async () => {
    await using place = memory(true)
    await place.opened.hear(turns, { learn: 'nothing' })
    const byWords = (await place.opened.search(question)).quotes
    await place.opened.embedTexts()

    const now = (await place.opened.search(question)).quotes
    const then = (await place.opened.search(question, { asOf: '9999-01-01' })).quotes

    expect(now.map(({ score }) => score)).not.toEqual(byWords.map(({ score }) => score))
    expect(then).toEqual(now)
  })

  it('are computed in parts, and forgotten with their turn', async () => {
    await using place = memory(true)
    const heard = await place.opened.hear(turns, { learn: 'nothing' })

    expect(await place.opened.embedTexts({ limit: 2 })).toEqual({ embedded: 2 })
    await place.opened.forgetTurns({ turn: heard.turns[0]?.turn?.id ?? '' })

    expect(await place.opened.embedTexts()).toEqual({ embedded: 0 })
    const found = (await place.opened.search('results')).quotes.map(({ text }) => text)
    expect(found).toEqual([turns[2]?.text, turns[1]?.text])
  })

  it('have no effect unless they are switched on', async () => {
    await using place = memory(false)
    await place.opened.hear(turns, { learn: 'nothing' })

    expect(await place.opened.embedTexts()).toEqual({ embedded: 0 })
  })
})

describe('a belief', () => {
  const content = 'My physician has moved the practice to Bergen.'
  const asked = 'Where does my doctor work now?'

  it('is found by meaning, marked as such, after those that are found by words', async () => {
    await using place = memory(true)
    await place.opened.remember({ name: 'knee', content })
    await place.opened.remember({ name: 'tyres', content: 'The tyres of the van were changed in May.' })
    const before = await place.opened.search(asked)
    await place.opened.embedTexts()
    const after = await place.opened.search(asked)

    expect(before).toMatchObject({ beliefs: [], meaning: 'words' })
    expect(after).toMatchObject({
      beliefs: [{ strength: 'possible', belief: { name: 'knee' } }],
      total: 1,
      meaning: 'vectors',
    })
    expect(after.beliefs[0]?.cosine).toBeGreaterThan(0.4)
    const named = await place.opened.search('knee')
    expect(named.beliefs).toMatchObject([{ strength: 'exact', cosine: null }])
    expect((await place.opened.search(asked, { scopes: ['project:other'] })).beliefs).toEqual([])
  })

  it('is shown by recall as perhaps relevant, which `why` explains', async () => {
    await using place = memory(true)
    const { belief } = await place.opened.remember({ name: 'knee', content })
    await place.opened.remember({ name: 'tyres', content: 'The tyres of the van were changed in May.' })
    const before = await place.opened.recall(asked)
    await place.opened.embedTexts()
    const after = await place.opened.recall(asked)
    const { verdict } = await place.opened.why(asked, belief.id)

    expect(before).toMatchObject({ relevant: [], perhaps: [] })
    expect(after).toMatchObject({ relevant: [], perhaps: [{ belief: { name: 'knee' } }] })
    const [{ cosine, minCosine }] = after.perhaps as [PerhapsBelief]
    expect(cosine).toBeGreaterThanOrEqual(minCosine)
    expect(verdict).toEqual({ kind: 'perhaps', rank: 1, cosine, minCosine })
    expect((await place.opened.why(asked, 'tyres')).verdict).toMatchObject({
      kind: 'not-mentioned',
      meaning: { minCosine },
    })
    expect(renderContext(after)).toContain(`## Perhaps relevant; ignore what does not help\n- knee: ${content}\n`)
  })

  it('is never perhaps relevant if its name or an alias already decides, or in another scope or agent', async () => {
    await using place = memory(true)
    await place.opened.remember({ name: 'doctor', content, scopes: ['project:clinic'] })
    await place.opened.remember({ name: 'work', content: `${content} He works there now.`, agent: 'other' })
    await place.opened.remember({
      name: 'physician',
      content: 'My physician works in Bergen now.',
      type: 'open_question',
    })
    await place.opened.remember({ name: 'my doctor', content: 'My doctor works in Bergen now.' })
    await place.opened.embedTexts()
    const { relevant, perhaps } = await place.opened.recall(asked)

    expect(relevant.map(({ belief }) => belief.name)).toEqual(['my doctor'])
    expect(perhaps).toEqual([])
    expect(
      (await place.opened.recall(asked, { budget: { maxQuotes: 0 }, scopes: ['user:universal'] })).perhaps,
    ).toEqual([])
  })

  it('fills the lines that quotes leave free, at most three for a question and five for a request', async () => {
    await using place = memory(true)
    const towns = ['Bergen', 'Oslo', 'Voss', 'Molde', 'Bodo', 'Narvik', 'Hamar']
    for (const town of towns)
      await place.opened.remember({ name: town, content: `My physician has moved the practice to ${town}.` })
    await place.opened.embedTexts()
    const forQuestion = await place.opened.recall(asked)
    const forRequest = await place.opened.recall('Write a letter to my doctor about the move of the practice.')

    expect(forQuestion.perhaps).toHaveLength(3)
    expect(forRequest.perhaps).toHaveLength(5)
    await place.opened.hear({ text: `${content.replace('Bergen', 'Voss')}`, session: 'a' }, { learn: 'nothing' })
    await place.opened.embedTexts()
    const { quotes, perhaps } = await place.opened.recall('Where has my physician moved the practice?')
    expect(quotes.length + perhaps.length).toBe(3)
    expect(quotes.length).toBeGreaterThan(0)
    expect(perhaps.map(({ belief }) => belief.name)).not.toContain('Voss')
  })

  it('and a turn are found by words if the model cannot be used', async () => {
    await using place = memory(true)
    await place.opened.hear(turns, { learn: 'nothing' })
    await place.opened.embedTexts()
    const ports = openPorts(place.dir)
    const broken = memoryFrom(
      {
        ...ports,
        embedder: () => Promise.reject(unavailable('The endpoint is away.', 'Start it.')),
        recallByMeaning: true,
      },
      { user: 'local', scopes: ['user:universal'], agent: null, author },
    )

    expect((await broken.search(question)).quotes.length).toBeGreaterThan(0)
    expect((await broken.recall(question)).isMessageCut).toBe(false)
    await broken.close()
  })

  it('and a turn are found by words alone if vectors take longer than recall waits, which it reports', async () => {
    await using place = memory(true)
    await place.opened.hear(turns, { learn: 'nothing' })
    await place.opened.embedTexts()
    const { embedder: open, ...ports } = openPorts(place.dir, { semantic: 'on' })
    const embedder = async (): Promise<Embedder> => {
      const model = await (open as () => Promise<Embedder>)()
      const late = async (texts: readonly string[]) => setTimeout(500).then(() => model.embed(texts))
      return { ...model, embed: late }
    }
    const standpoint = { user: 'local', scopes: ['user:universal'], agent: null, author } as const
    const meaningWithin = async (waiting: { readonly recallWaitMs?: number }) => {
      const slow = memoryFrom({ ...ports, embedder, recallByMeaning: true, ...waiting }, standpoint)
      return (await slow.recall(question, { nearMisses: true })).quoteDecision?.meaning
    }

    expect(await meaningWithin({})).toBe('words')
    expect(await meaningWithin({ recallWaitMs: 60_000 })).toBe('vectors')
    expect(await meaningWithin({ recallWaitMs: Number.POSITIVE_INFINITY })).toBe('vectors')
    await ports.store.close()
  })
})
