import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Memory, openMemory, renderContext } from '../../src/index.ts'

const opened: { readonly memory: Memory; readonly dir: string }[] = []

/** An empty memory, by default for a person. */
function emptyMemory(
  dir = mkdtempSync(join(tmpdir(), 'credence-truth-')),
  author?: { actor: 'agent'; origin: string },
) {
  const memory = openMemory({ dir, ...(author === undefined ? {} : { author }) })
  opened.push({ memory, dir })
  return { memory, dir }
}

afterEach(async () => {
  for (const { memory } of opened) await memory.close()
  for (const { dir } of opened.splice(0)) rmSync(dir, { recursive: true, force: true })
})

const gym = 'Remember that the gym code is 4471.'
const askGym = 'what is the code to get into the gym?'
const quotedTexts = async (memory: Memory, message: string): Promise<readonly string[]> =>
  (await memory.recall(message)).quotes.map(({ text }) => text)
const foundTexts = async (memory: Memory, query: string): Promise<readonly string[]> => {
  const { beliefs, quotes } = await memory.search(query)
  return [...beliefs.map(({ belief }) => belief.content), ...quotes.map(({ text }) => text)]
}

describe('a statement that was corrected', () => {
  it('is quoted only after its correction, with the date', async () => {
    const { memory } = emptyMemory()
    await memory.hear({ text: gym, session: 'mon', at: '2026-05-04T10:00:00Z' })
    const { belief } = await memory.correct('gym code', { content: 'The gym code is 9026.' })

    const context = await memory.recall(askGym)

    expect(context.relevant.map((one) => one.belief.content)).toEqual(['The gym code is 9026.'])
    expect(context.quotes).toMatchObject([{ text: gym, correctedAt: belief.provenance.at }])
    const prompt = renderContext(context)
    expect(prompt).toContain(`2026-05-04, the person (corrected on ${belief.provenance.at.slice(0, 10)}): "${gym}"`)
    expect(prompt.indexOf('9026')).toBeLessThan(prompt.indexOf('4471'))
  })

  it('is not followed by its correction if that is a standing instruction at the start of the context', async () => {
    const { memory } = emptyMemory()
    await memory.hear({
      text: 'Always run the linter before every commit.',
      session: 'mon',
      at: '2026-05-04T10:00:00Z',
    })
    const [learned] = (await memory.list()).items
    await memory.correct(learned?.id ?? '', { content: 'Always run all checks before every commit.' })

    const whole = await memory.recall('Is the linter needed before a commit?')
    const later = await memory.recall('Is the linter needed before a commit?', { budget: { maxPrelude: 0 } })

    expect(whole.prelude?.text).toContain('Always run all checks before every commit.')
    expect(whole.relevant).toEqual([])
    expect(whole.quotes).toMatchObject([{ text: 'Always run the linter before every commit.' }])
    expect(later.relevant.map(({ belief }) => belief.content)).toEqual(['Always run all checks before every commit.'])
  })

  it('is at most a possible hit of a search, and is returned with the current statement', async () => {
    const { memory } = emptyMemory()
    await memory.hear({ text: gym, session: 'mon' })
    await memory.correct('gym code', { content: 'Members now enter with the phone app.' })

    const { beliefs, quotes } = await memory.search('What is the gym code?')
    const turnsOnly = await memory.search('What is the gym code?', { in: 'turns' })

    expect(beliefs.map(({ belief }) => belief.content)).toContain('Members now enter with the phone app.')
    expect(quotes).toMatchObject([
      { strength: 'possible', correction: { content: 'Members now enter with the phone app.' } },
    ])
    expect(turnsOnly.beliefs).toEqual([])
    expect(turnsOnly.quotes).toMatchObject([{ correction: { content: 'Members now enter with the phone app.' } }])
  })

  it('is outdated in every turn with that statement, whoever said it and however it was stored', async () => {
    const { memory } = emptyMemory()
    await memory.hear([
      { text: 'By the way, I take my coffee black.', session: 'a', at: '2026-05-01T10:00:00Z' },
      { text: 'Noted, you take your coffee black.', role: 'assistant', session: 'a', at: '2026-05-01T10:01:00Z' },
    ])
    await memory.remember({ content: 'I take my coffee black.' })
    await memory.correct('I take my coffee black', { content: 'I take my coffee with oat milk.' })

    const { quotes } = await memory.search('How do I take my coffee?')

    expect(quotes.map(({ correctedAt }) => correctedAt !== null)).toEqual([true, true])
  })

  it('has a successor whose derived name does not repeat the old value', async () => {
    const { memory } = emptyMemory()
    await memory.remember({ content: 'I take my coffee black.' })

    const { belief } = await memory.correct('I take my coffee black', { content: 'I take my coffee with oat milk.' })
    const given = await memory.remember({ name: 'black coffee rule', content: 'Coffee is served black.' })
    const renamed = await memory.correct(given.belief.id, { content: 'Coffee is served with oat milk.' })

    expect(belief.name).not.toContain('black')
    expect(renamed.belief.name).toBe('black coffee rule')
  })

  it('is current again if the person returns to it, even if it was said after the correction', async () => {
    const { memory } = emptyMemory()
    await memory.hear({ text: gym, session: 'mon', at: '2026-05-04T10:00:00Z' })
    await memory.correct('gym code', { content: 'The gym code is 9026.' })
    const later = 'The gym code is 4471 again, they changed it back.'
    await memory.hear({ text: later, session: 'tue', at: '2030-05-05T10:00:00Z' })

    const { quotes } = await memory.search('What is the gym code?')
    await memory.correct('gym code', { content: 'The gym code is 4471.' })
    const again = await memory.search('What is the gym code?')

    expect(quotes.find(({ text }) => text === later)?.correctedAt).toBeNull()
    expect(again.quotes.every(({ correctedAt }) => correctedAt === null)).toBe(true)
  })

  it("remains the person's if only an agent contradicts it", async () => {
    const { memory, dir } = emptyMemory()
    const { memory: robot } = emptyMemory(dir, { actor: 'agent', origin: 'robot' })
    await memory.hear({ text: 'The gym code is 4471, as far as I know.', session: 'mon' })
    const { belief } = await robot.remember({
      name: 'code of the gym',
      content: 'The gym code is 4471.',
      scopes: ['project:x'],
    })
    await robot.correct(belief.id, { content: 'The gym code is 1.' })

    const { quotes } = await memory.search('What is the gym code?')

    expect(quotes).toMatchObject([{ correctedAt: null }])
  })

  it('is not quoted if its correction is out of view', async () => {
    const { memory } = emptyMemory()
    await memory.hear({ text: gym, session: 'mon' })
    const { belief } = await memory.correct('gym code', { content: 'The gym code is 9026.' })
    await memory.edit(belief.id, { scopes: ['project:elsewhere'] })

    expect(await quotedTexts(memory, askGym)).toEqual([])
  })
})

describe('a resolved statement', () => {
  it('is no longer quoted, and marked in a search', async () => {
    const { memory } = emptyMemory()
    await memory.hear({ text: 'The question is open: which printer do we buy for the studio?', session: 's' })
    await memory.remember({
      name: 'studio printer',
      content: 'Which printer do we buy for the studio?',
      type: 'open_question',
    })
    await memory.resolve('studio printer')

    const { quotes } = await memory.search('which printer do we buy for the studio?')

    expect(quotes).toMatchObject([{ correction: null }])
    expect(quotes[0]?.correctedAt).not.toBeNull()
    expect(await quotedTexts(memory, 'which printer do we buy for the studio?')).toEqual([])
  })
})

describe('forget', () => {
  it('removes the turns that the belief was learned from, and those with the same statement', async () => {
    const { memory } = emptyMemory()
    await memory.hear({ text: 'Remember that I take my coffee black.', session: 'a', at: '2026-05-01T10:00:00Z' })
    await memory.hear([
      { text: 'As I said, I take my coffee black.', session: 'b', at: '2026-05-02T10:00:00Z' },
      { text: 'Black it is: you take your coffee black.', role: 'assistant', session: 'b', at: '2026-05-02T10:01:00Z' },
      { text: 'The kitchen walls are black now.', session: 'b', at: '2026-05-02T10:02:00Z' },
    ])
    const { items } = await memory.list()
    const id = items[0]?.id ?? ''
    const preview = await memory.previewForget(id)

    const receipt = await memory.forget(id)

    expect(preview.turns).toHaveLength(3)
    expect(receipt).toMatchObject({ beliefIds: [id], turns: 3 })
    expect(await quotedTexts(memory, 'how do I take my coffee?')).toEqual([])
    expect((await foundTexts(memory, 'how do I take my coffee?')).join(' ')).not.toContain('coffee')
    expect((await memory.turns()).items.map(({ text }) => text)).toEqual(['The kitchen walls are black now.'])
  })

  it('keeps the turn of a waiting correction, which has another statement', async () => {
    const { memory } = emptyMemory()
    const { belief } = await memory.remember({ content: 'The gym code is 9026.' })
    await memory.hear({ text: 'The gym code is 1188 now.', session: 'a' })

    const receipt = await memory.forget(belief.id)

    expect(receipt.beliefIds).toHaveLength(2)
    expect((await memory.turns()).items.map(({ text }) => text)).toEqual(['The gym code is 1188 now.'])
  })

  it('keeps the turns on request, and always for an agent', async () => {
    const { memory, dir } = emptyMemory()
    const { memory: robot } = emptyMemory(dir, { actor: 'agent', origin: 'robot' })
    await memory.hear({ text: 'The lift code is 8812, by the way.', session: 'a' })
    const own = await robot.remember({ name: 'lift code', content: 'The lift code is 8812.', scopes: ['project:x'] })
    const mine = await memory.remember({ name: 'code for the lift', content: 'The lift code is 8812.' })

    const byAgent = await robot.forget(own.belief.id)
    const onRequest = await memory.forget(mine.belief.id, { keepTurns: true })

    expect([byAgent.turns, onRequest.turns]).toEqual([0, 0])
    expect((await memory.turns()).total).toBe(1)
  })
})

describe('correcting a turn', () => {
  it('marks the sentence of the turn and stores the new statement', async () => {
    const { memory } = emptyMemory()
    const text = 'The bike lock hangs in the shed. Lena has her birthday on 3 May.'
    const { turns } = await memory.hear({ text, session: 'a', at: '2026-05-01T10:00:00Z' })
    const id = turns[0]?.turn?.id ?? ''

    const { outcome, belief, replaced } = await memory.correct(id, { content: 'The bike lock hangs in the cellar.' })
    const lock = await memory.recall('Where does the bike lock hang?')
    const lena = await memory.recall('When does Lena have her birthday?')

    expect({ outcome, now: belief.content, before: replaced[0]?.content }).toEqual({
      outcome: 'corrected',
      now: 'The bike lock hangs in the cellar.',
      before: 'The bike lock hangs in the shed.',
    })
    expect(replaced[0]).toMatchObject({ status: 'superseded', provenance: { sourceId: id } })
    expect(lock.relevant.map((one) => one.belief.id)).toEqual([belief.id])
    expect(lock.quotes.every(({ correctedAt }) => correctedAt !== null)).toBe(true)
    expect(lena.quotes.map(({ correctedAt }) => correctedAt)).toEqual([null])
  })

  it('corrects the belief that was learned from the turn, and is undone as one change', async () => {
    const { memory } = emptyMemory()
    const { turns, taken } = await memory.hear({ text: gym, session: 'mon' })
    const id = turns[0]?.turn?.id ?? ''

    const { replaced } = await memory.correct(id, { content: 'The gym code is 9026.' })
    await memory.undo()

    expect(replaced.map((one) => one.id)).toEqual(taken.map(({ belief }) => belief.id))
    expect(await foundTexts(memory, 'What is the gym code?')).not.toContain('The gym code is 9026.')
    expect((await memory.search('What is the gym code?')).quotes).toMatchObject([{ correctedAt: null }])
  })

  it('is undone with the belief that it created from the sentence', async () => {
    const { memory } = emptyMemory()
    const { turns } = await memory.hear({ text: 'The bike lock hangs in the shed.', session: 'a' })
    await memory.correct(turns[0]?.turn?.id ?? '', { content: 'The bike lock hangs in the cellar.' })

    await memory.undo()

    expect((await memory.list()).total).toBe(0)
    expect((await memory.search('Where does the bike lock hang?')).quotes).toMatchObject([{ correctedAt: null }])
  })

  it('requires a person, and reports what is missing for an unknown id', async () => {
    const { memory, dir } = emptyMemory()
    const { memory: robot } = emptyMemory(dir, { actor: 'agent', origin: 'robot' })
    const { turns } = await memory.hear({ text: 'The bike lock hangs in the shed.', session: 'a' })

    const byAgent = robot.correct(turns[0]?.turn?.id ?? '', { content: 'It opens with 802.' })
    const unknown = memory.correct('t-nothing', { content: 'It opens with 802.' })

    await expect(byAgent).rejects.toMatchObject({ code: 'forbidden' })
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' })
  })
})

/** Turns about other things, because in a memory of a few sentences every word is rare, so every turn is quoted. */
const smallTalk = Array.from({ length: 300 }, (_, index) => ({
  text: `Errand ${index} is done; the afternoon was quiet and supper number ${index} was fine, thanks for asking again.`,
  session: `talk-${index}`,
  at: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
}))

describe('a quote whose topic was mentioned again', () => {
  const told = (at: string, text: string) => ({ text, session: at, at })
  const port = told('2026-05-01T10:00:00Z', 'The staging database for Heron listens on port 5433.')
  const slow = told('2026-05-02T10:00:00Z', 'Heron is slow today, what would you check first?')
  const moved = told('2026-05-03T10:00:00Z', 'The new pooler for Heron is up since noon, a relief for all of us.')
  const askPort = 'Which port does the staging database for Heron listen on?'

  it('is shown for a question about the past, and if another named person said it', async () => {
    const { memory } = emptyMemory()
    const { memory: dialogue } = emptyMemory()
    await memory.hear([...smallTalk, port, slow, moved])
    await dialogue.hear([...smallTalk, port, slow, moved].map((turn) => ({ ...turn, speaker: 'Ana' })))

    const past = 'Which port did the staging database for Heron listen on originally?'

    expect(await quotedTexts(memory, past)).toContain(port.text)
    expect(await quotedTexts(dialogue, askPort)).toContain(port.text)
  })
})

describe('a search', () => {
  it('lists a newer turn about the same thing first, and marks the older one', async () => {
    const { memory } = emptyMemory()
    const old = 'The reverse proxy on stoat is traefik, with gitea behind it.'
    const update = 'The proxy on stoat is caddy now, with gitea behind it.'
    await memory.hear([
      ...smallTalk,
      { text: old, session: 'a', at: '2026-04-01T10:00:00Z' },
      { text: update, session: 'b', at: '2026-06-01T10:00:00Z' },
    ])

    const { quotes } = await memory.search('Which reverse proxy do I use at home?', { in: 'turns' })
    const { quotes: past } = await memory.search('Which reverse proxy did I originally use?', { in: 'turns' })

    expect(quotes.slice(0, 2)).toMatchObject([
      { text: update, earlier: false },
      { text: old, earlier: true },
    ])
    expect(past[0]?.text).toBe(old)
  })
})
