import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'
import { says, saysJson, scriptedEndpoint } from '../models/scripted-endpoint.ts'
import { jsonLines, write } from '../transfer/chat-files.ts'

type CliSandbox = ReturnType<typeof createSandbox>

const turns = [
  { session: 'a', at: '2026-03-01T10:00:00Z', text: 'Always answer in British English.' },
  { session: 'b', at: '2026-04-01T10:00:00Z', text: 'I prefer tabs over spaces in Go files.' },
  { session: 'c', at: '2026-05-01T10:00:00Z', text: 'Never push to main without a review.' },
]

async function imported(place: CliSandbox): Promise<void> {
  await place.run('import', 'chats', write(place.work, 'chats.jsonl', jsonLines(...turns)))
}

/** Runs `credence review` at a terminal with these keys typed. */
const walk = (place: CliSandbox, typed: string) =>
  place.runWith({ columns: 80, stdin: typed, env: { NO_COLOR: '1' } }, 'review')
/** Like `walk`, but types each text only after its prompt is shown. */
const answer = (place: CliSandbox, ...typed: readonly (readonly [string, string])[]) =>
  place.runWith({ columns: 80, typed, env: { NO_COLOR: '1' } }, 'review')
const backspace = '\u007f'
/** Ctrl-U. */
const clearLine = '\u0015'
const contents = async (place: CliSandbox): Promise<readonly string[]> =>
  (await place.json('beliefs')).items.map(({ content }: { content: string }) => content).sort()

describe('credence review', () => {
  it('lists waiting items, newest first, each decided with one letter', async () => {
    using place = createSandbox()
    await imported(place)

    const { exitCode, stdout, stderr } = await walk(place, 'a\nr\ns\n')

    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/\n {2}Accepted: "[^"]*push to main[^"]*" \(b-\w+\)\.\n/iu)
    expect(stderr).toMatch(/\n {2}Rejected: "I prefer tabs[^"]*" \(b-\w+\)\.\n/u)
    expect(stdout).toBe('1 accepted, 0 edited, 1 rejected, 1 left.\n')
    expect(stderr.indexOf('Never push')).toBeLessThan(stderr.indexOf('I prefer tabs'))
    expect(stderr).toContain('Said 2026-05-01 in import, conversation c.')
    expect(await contents(place)).toEqual(['Never push to main without a review.'])
    expect((await place.json('review')).items).toMatchObject([{ belief: { content: turns[0]?.text } }])
  })

  it('is not counted as an edit; a later edit is', async () => {
    using place = createSandbox()
    await imported(place)
    await walk(place, 'a\nq\n')
    const [{ id }] = (await place.json('beliefs')).items

    const accepted = await place.run('show', id)
    await place.run('pin', id)
    const edited = await place.run('show', id)

    expect(accepted.stdout).toMatch(/^accepted +by a person$/mu)
    expect(accepted.stdout).not.toMatch(/^edited/mu)
    expect(edited.stdout).toMatch(/^edited +by a person$/mu)
  })

  it('accepts new words for a statement, which become a belief instead of the found ones', async () => {
    using place = createSandbox()
    await imported(place)

    const { stdout, stderr } = await walk(place, `e\n${clearLine}Never push to main on Fridays.\nq\n`)

    expect(stderr).toContain('\n  Edited and accepted: Never push to main on Fridays.\n')
    expect(stdout).toContain('0 accepted, 1 edited, 0 rejected, 2 left.')
    expect(await contents(place)).toEqual(['Never push to main on Fridays.'])
    expect((await place.json('review')).total).toBe(2)
  })

  it('derives the name again from the new words, but keeps a given name', async () => {
    using place = createSandbox()
    await imported(place)
    const wish = ['remember', 'Green.', '--name', 'fleet van', '--scope', 'user:universal', '--as', 'agent:codex']
    await place.run(...wish)

    await walk(place, `e\n${clearLine}Red.\ne\n${clearLine}Merge with two approvals.\nq\n`)

    const { items } = await place.json('beliefs')
    const named = items.map(({ name, content }: { name: string; content: string }) => [name, content])
    expect(named.sort()).toEqual([
      ['Merge with two approvals', 'Merge with two approvals.'],
      ['fleet van', 'Red.'],
    ])
  })

  it('begins an edit with the present text', async () => {
    using place = createSandbox()
    await imported(place)

    const { stdout } = await answer(
      place,
      ['[a]ccept', 'e\n'],
      ['Never push', `${backspace} by Ada.\n`],
      ['[a]ccept', 'q\n'],
    )

    expect(stdout).toContain('1 edited')
    expect(await contents(place)).toEqual(['Never push to main without a review by Ada.'])
  })

  it('asks again after an edit without text, and ends at Ctrl-C in an edit', async () => {
    using place = createSandbox()
    await imported(place)

    const { stdout } = await walk(place, `e\n${clearLine}\nq\n`)
    const interrupted = await answer(place, ['[a]ccept', 'e\n'], ['Never push', '\u0003'])

    expect(stdout).toContain('0 edited, 0 rejected, 3 left')
    expect(interrupted.exitCode).toBe(130)
  })

  it('keeps the words if Enter is pressed, and asks again after an unknown key', async () => {
    using place = createSandbox()
    await imported(place)

    const { stdout, stderr } = await answer(
      place,
      ['[a]ccept', 'x\n'],
      ['[a]ccept', 'e\n'],
      ['Never push', '\n'],
      ['[a]ccept', 'q\n'],
    )

    expect(stdout).toContain('1 edited')
    expect(stderr.split('[a]ccept').length).toBe(4)
    expect(await contents(place)).toEqual(['Never push to main without a review.'])
  })

  it('shows what a correction would replace, and replaces it', async () => {
    using place = createSandbox()
    await place.run('remember', 'The staging database listens on port 5432.', '--name', 'staging database')
    const said = { at: '2026-05-01T10:00:00Z', text: 'Actually, the staging database listens on port 5433, not 5432.' }
    await place.run('import', 'chats', write(place.work, 'chats.jsonl', jsonLines(said)))

    const { stderr } = await walk(place, 'a\n')

    expect(stderr).toContain('Now: The staging database listens on port 5432.')
    expect((await place.json('show', 'staging database')).belief.content).toContain('5433')
  })

  it('shows the whole item, with the reason why it waits', async () => {
    using place = createSandbox()
    const statement = `the nightly job must finish before 05:30 because ${'the bank fetches the file then and '.repeat(5)}leaves.`
    const said = { at: '2026-05-01T10:00:00Z', text: `Remember that ${statement}` }
    await place.run('import', 'chats', write(place.work, 'chats.jsonl', jsonLines(said)))

    const { stderr } = await walk(place, 's\n')

    expect(stderr.replaceAll(/\s+/gu, ' ')).toContain(statement)
    expect(stderr).toContain('It was said once. It becomes active when you accept it or say it again.')
  })

  it('ends at the end of the input and at Ctrl-C, with the decisions made so far', async () => {
    using place = createSandbox()
    await imported(place)

    const ended = await walk(place, 'a\n')
    const interrupted = await answer(place, ['[a]ccept', 'r\n'], ['[a]ccept', '\u0003'])

    expect(ended).toMatchObject({ exitCode: 0, stdout: '1 accepted, 0 edited, 0 rejected, 2 left.\n' })
    expect(interrupted).toMatchObject({ exitCode: 130, stdout: '0 accepted, 0 edited, 1 rejected, 1 left.\n' })
    expect(interrupted.stderr).toMatch(/\[q\]uit, then Enter: [^a-z]*\n$/u)
    expect((await place.json('review')).total).toBe(1)
  })

  it('prints the list without a terminal and as JSON, and reports an empty one', async () => {
    using place = createSandbox()

    const nothing = await place.run('review')
    await imported(place)
    const listed = await place.run('review', '--limit', '1')
    const document = await place.runWith({ columns: 80, stdin: new PassThrough() }, 'review', '--json')

    expect(nothing).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Nothing waits for a decision.') })
    expect(listed.stdout).toContain('Never push to main without a review.')
    expect(listed.stdout).not.toContain('tabs')
    expect(listed.stderr).toContain('credence review accept')
    expect(JSON.parse(document.stdout)).toMatchObject({ total: 3, items: [{ kind: 'statement' }, {}, {}] })
  })
})

describe('credence review accept and reject', () => {
  it('decide several items, and report which were decided if one cannot be', async () => {
    using place = createSandbox()
    await imported(place)
    const [first, second, third] = (await place.json('review')).items.map(
      (item: { belief: { id: string } }) => item.belief.id,
    )

    const accepted = await place.json('review', 'accept', first, second)
    const stopped = await place.run('review', 'reject', third, 'no-such-proposal')

    expect(accepted).toMatchObject({ accepted: [{ belief: { id: first } }, { belief: { id: second } }] })
    expect(stopped).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('1 decision before it was made.') })
    expect((await place.json('review')).total).toBe(0)
  })

  it('refuse a key for several items, and options of the list', async () => {
    using place = createSandbox()

    expect(await place.run('review', 'accept', 'b-1', 'b-2', '--key', 'k')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--key is for one decision.'),
    })
    expect(await place.run('review', 'accept', 'b-1', '--limit', '3')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--limit cannot be combined with accept.'),
    })
  })
})

describe('statements that a model finds', () => {
  const found = (content: string) =>
    saysJson({ beliefs: [{ type: 'entity', subtype: null, name: 'boathouse', aliases: [], content }] })

  it('wait for the person like all others, and a bad answer does not stop the others', async () => {
    using place = createSandbox()
    const said = ['The boathouse has a red door.', 'The weather is fine.', 'The boathouse has two windows.']
    await place.run('import', 'chats', write(place.work, 'chats.jsonl', jsonLines(...said.map((text) => ({ text })))))
    await using model = await scriptedEndpoint((request) => {
      const asked = JSON.stringify(request.body)
      if (asked.includes('weather')) return says('I would rather talk about the weather.')
      return asked.includes('two windows')
        ? found('The boathouse has two windows.')
        : found('The boathouse has a red door.')
    })

    const reviewed = await place.runWith(
      { env: { OPENAI_API_KEY: 'sk-test' } },
      'review',
      '--extractor',
      `openai:small@${model.openaiUrl}`,
      '--json',
    )

    const document = JSON.parse(reviewed.stdout)
    expect(document).toMatchObject({ total: 2, extracted: { read: 3, found: 2, failed: 1 } })
    expect(document.items).toMatchObject([
      { reason: 'The model openai:small found it in a message.', turn: { role: 'user' } },
      { reason: 'The model openai:small found it in a message.' },
    ])
    expect(await contents(place)).toEqual([])
    expect(reviewed.stderr).toContain('1 turn could not be read by it')
  })

  it('are not requested again and again if the model does not answer', async () => {
    using place = createSandbox()
    const said = Array.from({ length: 9 }, (_, index) => ({ text: `Statement number ${index}.` }))
    await place.run('import', 'chats', write(place.work, 'chats.jsonl', jsonLines(...said)))
    await using model = await scriptedEndpoint(() => says('no'))

    const { stdout } = await place.runWith({}, 'review', '--extractor', `openai:small@${model.openaiUrl}`, '--json')

    expect(JSON.parse(stdout).extracted).toEqual({ read: 3, found: 0, failed: 3 })
  })
})
