import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

const asked = 'Can I eat this pesto with walnuts?'
const found = "I'm allergic to walnuts."

/** The contents of the beliefs that a recall shows because their meaning is near. */
const perhapsIn = (document: { readonly perhaps: readonly { readonly belief: { readonly content: string } }[] }) =>
  document.perhaps.map(({ belief }) => belief.content)

describe('a question right after a statement', () => {
  it('is compared by meaning, without a server and without `credence vectors`', async () => {
    using place = createSandbox()
    await place.run('remember', found)
    await place.run('remember', 'The office is closed on 21 July.')
    await place.run('hear', 'The landlord of our flat is Karel Dewit.', '--session', 'flat')

    const recalled = await place.json('recall', asked)
    const why = await place.json('why', asked, "I'm allergic to walnuts")
    const searched = await place.json('search', 'Who owns the apartment that we rent?')

    expect(perhapsIn(recalled)).toEqual([found])
    expect(why.verdict.kind).toBe('perhaps')
    expect(searched.quotes[0].text).toContain('Karel Dewit')
    expect((await place.json('status')).meaning.waiting).toBe(0)
  })

  it('lists no belief for correcting a turn that has none of the words, and lists strong hits first', async () => {
    using place = createSandbox()
    await place.run('hear', 'We are moving to Leuven in March.', '--session', 'a')
    await place.run('hear', 'The savings bank of my brother closes at noon.', '--session', 'b')
    const [moving] = (await place.json('search', 'moving to Leuven')).quotes
    await place.run('correct', moving.turn, 'We moved to Ghent.')
    await place.run('remember', 'The bank where my brother sat is green.', '--name', 'bench')

    const found = await place.json('search', 'When does the savings bank of my brother close?')
    const { stdout } = await place.run('search', 'When does the savings bank of my brother close?')
    const move = await place.json('search', 'Are we moving to Leuven?')

    expect(found.beliefs.map((hit: { belief: { name: string } }) => hit.belief.name)).toEqual(['bench'])
    expect(found.quotes.some(({ turn }: { turn: string }) => turn === moving.turn)).toBe(true)
    expect(stdout).toMatch(/^strong .*\n +The savings bank[\s\S]*^possible {2}bench/mu)
    expect(move.beliefs[0].belief.content).toBe('We moved to Ghent.')
  })

  it('gets the newest of two values first', async () => {
    using place = createSandbox()
    await place.run('remember', 'I take 5 mg of cetirizine.')
    await place.run('remember', 'I take 10 mg of cetirizine now.')

    const recalled = await place.json('recall', 'how much cetirizine do I take?')

    // The older value has the larger cosine, but must come second.
    expect(recalled.perhaps[0].cosine).toBeLessThan(recalled.perhaps[1].cosine)
    expect(perhapsIn(recalled)).toEqual(['I take 10 mg of cetirizine now.', 'I take 5 mg of cetirizine.'])
  })

  it('is captured as a case with the answer that the person saw', async () => {
    using place = createSandbox()
    await place.run('remember', found)
    const capture = async (...judged: readonly string[]) => place.json('benchmark', 'capture', asked, ...judged)

    const expected = await capture('--expect', "I'm allergic to walnuts")
    const asIs = await capture('--as-is')
    const rejected = await capture('--reject', "I'm allergic to walnuts")
    const ran = JSON.parse((await place.run('benchmark', 'run', 'my-cases', '--json')).stdout)
    const off = { env: { CREDENCE_SEMANTIC: 'off' } }
    const byWords = await place.runWith(off, 'benchmark', 'capture', asked, '--as-is', '--json')

    expect(expected).toMatchObject({ passesNow: true, isFaithful: true })
    expect(asIs).toMatchObject({
      passesNow: true,
      isFaithful: true,
      case: { description: expect.stringMatching(/walnuts/u) },
    })
    expect(rejected).toMatchObject({ passesNow: false, isFaithful: true })
    expect(ran.runs).toMatchObject([{ system: { name: 'credence-vectors' }, totalCases: 3, passedCases: 2 }])
    expect(JSON.parse(byWords.stdout).case.description).toBe('Recalls no belief.')
  })

  it('is compared by words if `semantic` is off', async () => {
    using place = createSandbox()
    await place.run('remember', found)
    const { dir } = await place.json('status')
    writeFileSync(join(dir, 'config.json'), '{"semantic": "off"}')

    expect(perhapsIn(await place.json('recall', asked))).toEqual([])
  })
})

describe('many texts without vectors', () => {
  const chats = Array.from({ length: 40 }, (_, day) => ({
    text: `On day ${day} we sailed to another harbour and moored there.`,
    session: `day ${day}`,
  }))

  it('are reported by a search, and processed in the background after an import', async () => {
    using place = createSandbox()
    const file = join(place.work, 'chats.jsonl')
    writeFileSync(file, chats.map((turn) => JSON.stringify(turn)).join('\n'))
    const started: (readonly string[])[] = []
    const startDetached = async (argv: readonly string[]): Promise<void> => {
      started.push(argv)
    }

    const imported = await place.runWith({ startDetached }, 'import', 'chats', file)
    const searched = await place.run('search', 'Where did the boat stay?')
    const recalled = await place.run('recall', 'Where did the boat stay?')

    expect(started).toEqual([['vectors']])
    expect(imported.stderr).toContain('Vectors of 40 texts are computed in the background')
    expect(searched.stderr).toContain('40 texts without vectors can only be found by words; `credence vectors`')
    expect(recalled.stderr).toContain('40 texts without vectors')
    expect((await place.json('vectors')).embedded).toBe(40)
    expect((await place.run('search', 'Where did the boat stay?')).stderr).not.toContain('without vectors')
  })

  it('start no process without histories, or in a dry run', async () => {
    using place = createSandbox()
    const file = join(place.work, 'chats.jsonl')
    writeFileSync(file, chats.map((turn) => JSON.stringify(turn)).join('\n'))
    const startDetached = async (argv: readonly string[]): Promise<void> => {
      throw new Error(`started ${argv.join(' ')}`)
    }

    const dry = await place.runWith({ startDetached }, 'import', 'chats', file, '--dry-run')
    writeFileSync(file, JSON.stringify(chats[0]))
    const few = await place.runWith({ startDetached }, 'import', 'chats', file)

    expect([dry.exitCode, few.exitCode]).toEqual([0, 0])
    expect(few.stderr).not.toContain('background')
  })
})
