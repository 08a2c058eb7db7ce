import { describe, expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

type Place = ReturnType<typeof createSandbox>

/** Stores the texts as one conversation, a minute apart, and returns the ids of the turns. */
async function heard(
  place: Place,
  session: string,
  ...texts: readonly (string | object)[]
): Promise<readonly string[]> {
  const turns = texts.map((said, minute) => ({
    session,
    at: `2026-05-03T10:${String(minute).padStart(2, '0')}:00Z`,
    ...(typeof said === 'string' ? { text: said } : said),
  }))
  await place.runWith({ stdin: turns.map((turn) => JSON.stringify(turn)).join('\n') }, 'hear', '-')
  return (await place.json('conversations', 'show', session)).turns.map(({ id }: { readonly id: string }) => id)
}

const kayak = 'I rented a kayak near Voss in Norway.'
const question = 'Where did I rent that kayak in Norway?'

describe('feedback', () => {
  it('is counted for beliefs and turns, listed, and shown by why', async () => {
    using place = createSandbox()
    const [id = ''] = await heard(place, 's1', kayak)
    await place.run('remember', 'Cotton, size M.', '--name', 't-shirt')

    const given = await place.run('feedback', 'useful', id.slice(0, 8), 't-shirt')
    const listed = await place.json('feedback')
    await place.run('feedback', 'not-useful', id)

    expect(given.stdout).toContain('1 useful, 0 not useful  "t-shirt"')
    expect(given.stdout).toContain(`1 useful, 0 not useful  "${kayak}" ${id}`)
    expect(listed.items).toHaveLength(2)
    expect((await place.run('why', question, id)).stdout).toContain('Feedback on it: 1 useful, 1 not useful.')
    expect((await place.run('why', question, 't-shirt')).stdout).toContain('Feedback on it: 1 useful, 0 not useful.')
    expect(await place.run('feedback', 'useful')).toMatchObject({ exitCode: 2 })
    expect((await place.run('feedback', 'useful', 't-none')).stderr).toContain('There is no belief or turn "t-none".')
  })
})

describe('show', () => {
  it('shows a turn with its whole text, its metadata and the beliefs learned from it', async () => {
    using place = createSandbox()
    const [id = ''] = await heard(place, 's1', 'Remember that the API port is 8080.')

    const { stdout } = await place.run('show', id)
    const byPrefix = await place.json('show', id.slice(0, 8))

    expect(stdout).toContain('Remember that the API port is 8080.')
    for (const field of [id, 'you', '2026-05-03 10:00', 's1', 'user:universal', 'cli', 'API port'])
      expect(stdout).toContain(field)
    expect(stdout).not.toMatch(/masked|pasted/u)
    expect(byPrefix).toMatchObject({
      turn: { id, session: 's1', host: 'cli' },
      learned: [{ name: 'API port' }],
      isMasked: false,
      isPasted: false,
    })
  })

  it('reports a masked secret and pasted text', async () => {
    using place = createSandbox()
    const [id = ''] = await heard(place, 's1', {
      text: 'Why does this fail?\n```\nexport GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz\n```',
    })

    const shown = await place.json('show', id)
    const { stdout } = await place.run('show', id)

    expect(shown).toMatchObject({ isMasked: true, isPasted: true, learned: [] })
    expect(stdout).toContain('a secret in it was masked')
    expect(stdout).toContain('part of it; that part is not quoted')
  })

  it('prefers a belief whose name begins like the id of a turn, and mentions both if neither exists', async () => {
    using place = createSandbox()
    await place.run('remember', 'Cotton, size M.', '--name', 't-shirt')

    const shirt = await place.json('show', 't-shirt')
    const unknown = await place.run('show', 't-nope')

    expect(shirt.belief.content).toBe('Cotton, size M.')
    expect(unknown).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(
        /There is no belief or turn "t-nope"\.[\s\S]*credence beliefs[\s\S]*credence conv/u,
      ),
    })
  })
})

describe('why', () => {
  const byWords = { env: { CREDENCE_SEMANTIC: 'off' } }

  it('prints probability, thresholds and matching words of a quoted turn, found by the beginning of its id', async () => {
    using place = createSandbox()
    const [id = ''] = await heard(place, 's1', kayak)

    const { stdout } = await place.runWith(byWords, 'why', question, id.slice(0, 8))
    const document = await place.json('why', question, id)

    expect(stdout).toMatch(
      /^It is quoted as sure\. By words alone, the probability that one of the five best-ranked turns helps is 0\.\d+; quotes are\s+shown as perhaps relevant from 0\.\d+ on, and as sure from 0\.\d+ on\./u,
    )
    expect(stdout).toContain('("rent", "kayak", "Norway"); this contains')
    expect(document).toMatchObject({ turn: { id }, isInView: true, quote: { turn: id }, unmet: null })
    expect(document.best.score).toBe(document.quote.score)
  })

  it('explains a turn that is not the best one by its own probability and the missing words', async () => {
    using place = createSandbox()
    const [, beside = '', , , other = ''] = await heard(place, 's1', kayak, 'ok', 'fine', 'so', 'well')
    const [weak = ''] = await heard(place, 's2', 'The rent of the flat is due on Monday.')

    const low = await place.json('why', question, weak)
    const none = JSON.parse((await place.runWith(byWords, 'why', question, other, '--json')).stdout)
    const near = await place.json('why', question, beside)
    const text = (await place.run('why', question, weak)).stdout

    expect(low).toMatchObject({ quote: null, unmet: 'other quotes', best: { turn: weak, shared: ['rent'] } })
    expect(low.best.probability).toBeLessThan(low.probability)
    expect(text).toContain('The quotes that are shown are more likely to help, or have the same words.')
    expect(near.best).toMatchObject({ shared: [], nearby: ['rent', 'kayak', 'Norway'] })
    expect(none).toMatchObject({ quote: null, best: null, unmet: 'a shared word' })
  })

  it('judges a turn by the same probability and thresholds as recall, among any number of turns', async () => {
    using place = createSandbox()
    const [id = ''] = await heard(place, 's1', kayak)
    await heard(
      place,
      's2',
      ...Array.from({ length: 30 }, (_, number) => `${'We talked about many things. '.repeat(20)}${number}`),
    )

    const { quoteDecision } = await place.json('recall', question, '--explain')
    const document = await place.json('why', question, id)

    expect(document.probability).toBe(quoteDecision.probability)
    expect(document.levels).toEqual(quoteDecision.levels)
    expect(document.best.score).toBe(quoteDecision.best.score)
  })

  it("names the reason if the words are not the person's, or if a belief has them", async () => {
    using place = createSandbox()
    const [answer = ''] = await heard(place, 's1', { text: kayak, role: 'assistant' })
    const [said = ''] = await heard(place, 's2', 'Remember that the kayak rental near Voss costs 40 euros.')
    await place.run('pin', (await place.json('show', said)).learned[0].id)

    const byAssistant = await place.json('why', question, answer)
    const known = await place.json('why', 'What does the kayak rental near Voss cost?', said)

    expect(byAssistant).toMatchObject({ quote: null, unmet: "the person's own words" })
    expect((await place.run('why', question, answer)).stdout).toContain('asks what the assistant said')
    expect(known).toMatchObject({ quote: null, unmet: 'a belief' })
  })

  it('reports that the scope is the only reason', async () => {
    using place = createSandbox()
    const [id = ''] = await heard(place, 's1', { text: kayak, scope: 'project:trip' })

    const { stdout } = await place.run('why', question, id)
    const refused = await place.run('why', question, id, '--fix')

    expect(stdout).toContain('It was said in project:trip, which is not one of the active scopes. With --scope')
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('a turn cannot be changed') })
  })
})

describe('conversations show', () => {
  it('shows the conversation around a turn, and marks it', async () => {
    using place = createSandbox()
    const ids = await heard(place, 's1', ...Array.from({ length: 30 }, (_, number) => `Turn number ${number}.`))
    const id = ids[15] as string

    const { stdout } = await place.run('conversations', 'show', id)
    const document = await place.json('conversations', 'show', id)
    const unknown = await place.run('conversations', 'show', 't-nope')

    expect(stdout).toMatch(new RegExp(`^> you .*${id}$`, 'mu'))
    expect(document).toMatchObject({ session: 's1', around: id, offset: 5 })
    expect(document.turns).toHaveLength(21)
    expect(unknown.stderr).toContain('There is no conversation or turn "t-nope".')
  })
})

describe('a turn with the role user that an agent stored', () => {
  it.each([
    ['without a speaker', {}, 'reported by'],
    ['with a speaker', { speaker: 'you' }, 'you (reported by'],
  ])('is shown as a report of the agent (%s)', async (_, more, label) => {
    using place = createSandbox()
    const turn = JSON.stringify({ session: 's1', text: 'I rented a kayak near Voss.', ...more })
    await place.runWith({ stdin: turn }, 'hear', '-', '--as', 'agent:codex')
    const { turns } = await place.json('conversations', 'show', 's1')

    const search = (await place.run('search', 'kayak')).stdout
    const shown = (await place.run('conversations', 'show', 's1')).stdout
    const one = (await place.run('show', turns[0].id)).stdout

    expect(turns[0].origin).toBe('agent')
    expect(search).toContain(`${label} an agent`)
    for (const text of [shown, one]) expect(text).toContain(`${label} the agent codex`)
    for (const text of [search, shown, one]) expect(text).not.toMatch(/you said|you {2}/u)
  })
})
