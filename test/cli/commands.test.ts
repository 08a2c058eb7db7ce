import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

const terms = ['remember', 'Invoices are due after 14 days.', '--name', 'payment terms', '--alias', 'due date'] as const

describe('init', () => {
  it('creates a private memory, prints its path, and changes nothing the second time', async () => {
    using place = createSandbox()
    const dir = join(place.home, '.local', 'share', 'credence')

    const first = await place.run('init')
    const second = await place.json('init')

    // Must say where messages are stored, and how to stop that.
    expect(first.exitCode).toBe(0)
    expect(first.stderr).toContain(`stored word for word on this machine, in ${dir}, with secrets masked.`)
    expect(first.stderr).toContain('`credence pause` stops that')
    expect(first.stdout).toContain(`Created a memory in ${dir}.`)
    expect(first.stdout).toContain('credence remember')
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    expect(statSync(join(dir, 'state', 'credence.db')).mode & 0o777).toBe(0o600)
    expect(second).toMatchObject({ dir, created: false, user: 'local', scopes: ['user:universal'] })
  })
})

describe('remember', () => {
  it('reports whether a statement was new, known or a correction', async () => {
    using place = createSandbox()

    const remembered = await place.run(...terms)
    const again = await place.run(...terms)
    const corrected = await place.run('remember', 'Invoices are due after 30 days.', '--name', 'Payment Terms')

    expect(remembered).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('`credence pause`') })
    expect(again.stderr).toBe('')
    expect(remembered.stdout).toMatch(
      /^Remembered "payment terms" \(b-\w+\) in user:universal\.\n {2}Found by: payment terms, due date\n$/,
    )
    expect(again.stdout).toMatch(/^Reinforced "payment terms"/)
    expect(corrected.stdout).toMatch(
      /^Corrected "Payment Terms".*\n {2}Now: Invoices are due after 30 days\.\n {2}Before: Invoices are due after 14 days\./,
    )
  })

  it('derives a missing name, and reports it', async () => {
    using place = createSandbox()

    const remembered = await place.run('remember', 'The staging database listens on `port 5433`.')
    const again = await place.run('remember', 'The staging database listens on `port 5433`.')
    const another = await place.run('remember', 'The staging database is wiped on Sundays.')
    const corrected = await place.run('remember', 'staging database: wiped on Mondays')
    const recalled = await place.json('recall', 'Where is port 5433?')

    expect(remembered.stdout).toMatch(
      /^Remembered "staging database.*\n {2}Found by: staging database.*, port 5433\b.*\n$/,
    )
    expect(remembered.stderr).toMatch(/derived from the statement\. To add an alias: credence alias b-\w+ add /)
    expect(again.stdout).toMatch(/^Reinforced "staging database/)
    expect(again.stderr).toBe('')
    expect(another.stdout).toMatch(/^Remembered "staging database/)
    expect(corrected.stdout).toMatch(/^Corrected "staging database".*\n {2}Now: wiped on Mondays/)
    expect(recalled.relevant).toHaveLength(1)
  })

  it('reports another value of the same thing, which the same command with --replace replaces', async () => {
    using place = createSandbox()
    await place.run('remember', "Tom's build server is larch.", '--scope', 'project:a')

    const second = await place.run('remember', "Tom's build server is birch.", '--scope', 'project:a')
    const replaced = await place.run('remember', "Tom's build server is birch.", '--scope', 'project:a', '--replace')
    const recalled = await place.json('recall', 'Is the build server up?', '--scope', 'project:a')

    expect(second.stdout).toMatch(/^Remembered /)
    expect(second.stderr).toMatch(
      /another value of the same thing.*\n {2}Stated \d{4}-\d\d-\d\d: Tom's build server is larch\. /,
    )
    expect(replaced.stdout).toMatch(/^Corrected /)
    expect(replaced.stdout.match(/Before: .*/gu)).toEqual([expect.stringContaining('larch')])
    expect(replaced.stdout).not.toContain('(2)')
    expect(replaced.stderr).not.toContain('another value')
    expect(recalled.relevant.map(({ belief }: { belief: { content: string } }) => belief.content)).toEqual([
      "Tom's build server is birch.",
    ])
  })

  it('replaces another value with --replace', async () => {
    using place = createSandbox()
    await place.run('remember', 'I take 5 mg of cetirizine.')

    const { stdout, stderr } = await place.run('remember', 'I take 10 mg of cetirizine now.', '--replace')

    expect(stdout).toMatch(
      /^Corrected .*\n {2}Now: I take 10 mg of cetirizine now\.\n {2}Before: I take 5 mg of cetirizine\./,
    )
    expect(stderr).not.toContain('another value')
  })

  it('makes a contradiction of an agent a proposal, which the person decides', async () => {
    using place = createSandbox()
    await place.run(...terms)
    const claim = ['remember', 'Invoices are due today.', '--name', 'payment terms', '--as', 'agent:codex'] as const

    const proposed = await place.run(...claim)
    const listed = await place.run('review')
    const waiting = await place.json('review')
    const refused = await place.run('review', 'accept', 'payment terms', '--as', 'agent:codex')
    const rejected = await place.run('review', 'reject', waiting.items[0].belief.id)
    await place.run(...claim)
    const accepted = await place.run('review', 'accept', 'payment terms')
    const recalled = await place.json('recall', 'payment terms?')

    expect(proposed.stdout).toMatch(/^Proposed "payment terms".*has to decide\.\n[\s\S]*credence review accept b-/)
    expect(listed.stdout).toMatch(
      /^Replace "payment terms".*\n {4}Invoices are due today\.\n {4}Now: Invoices are due after 14 days\.\n[\s\S]*The agent codex contradicts/,
    )
    expect(refused).toMatchObject({ exitCode: 3, stdout: '' })
    expect(refused.stderr).toContain('Only a person can accept or reject proposals.')
    expect(rejected.stdout).toMatch(/^Rejected b-\w+\. `credence undo \d+` brings it back\.\n$/)
    expect(accepted.stdout).toMatch(/^Accepted "payment terms".*Invoices are due today\.\n {2}Before: /)
    expect(recalled.relevant[0].belief.content).toBe('Invoices are due today.')
  })

  it('lists a statement of an agent with its aliases, which decide when it is recalled', async () => {
    using place = createSandbox()
    const wish = ['remember', 'Green.', '--name', 'fleet van', '--alias', 'motor pool', '--scope', 'user:universal']

    await place.run(...wish, '--as', 'agent:codex')

    expect((await place.run('review')).stdout).toMatch(
      /^Remember "fleet van".* in user:universal\n {4}Green\.\n {4}Aliases: motor pool\n/,
    )
  })

  it('accepts every field of a belief', async () => {
    using place = createSandbox()

    const { belief } = await place.json(
      'remember',
      'Knows',
      'Rust',
      'well',
      '--name',
      'Rust',
      '--type',
      'preference',
      '--subtype',
      'expertise',
      '--expertise',
      'rust:deep',
      '--why',
      'Skip the basics',
      '--status',
      'inferred',
      '--confidence',
      '0.5',
      '--agent',
      'codex',
      '--scope',
      'domain:code',
      '--scope',
      'project:x',
      '--user',
      'ada',
      '--as',
      'document:notes.md',
    )

    expect(belief).toMatchObject({
      user: 'ada',
      content: 'Knows Rust well',
      type: 'preference',
      subtype: 'expertise',
      expertise: { domain: 'rust', depth: 'deep' },
      why: 'Skip the basics',
      status: 'inferred',
      confidence: 0.5,
      pinned: false,
      agent: 'codex',
      scopes: ['domain:code', 'project:x'],
      provenance: { actor: 'document', origin: 'notes.md' },
      editedByPerson: false,
    })
  })

  it('has one effect for one key, and refuses the key for another request', async () => {
    using place = createSandbox()

    const first = await place.json(...terms, '--key', 'k1')
    const retried = await place.json(...terms, '--key', 'k1')
    const misused = await place.run('remember', 'Something else.', '--name', 'other', '--key', 'k1')

    expect(retried).toEqual(first)
    expect(misused).toMatchObject({ exitCode: 3 })
    expect(misused.stderr).toContain('The idempotency key "k1" was used before')
  })

  it('reads a statement from standard input, and one that begins with a dash after --', async () => {
    using place = createSandbox()

    const read = await place.runWith({ stdin: 'Sent through a pipe.\n' }, 'remember', '-', '--name', 'pipe', '--json')
    const written = await place.run('remember', '--name', 'dash', '--', '-5 degrees is too cold.')
    const shown = await place.json('show', 'dash')

    expect(JSON.parse(read.stdout).belief.content).toBe('Sent through a pipe.')
    expect(written.exitCode).toBe(0)
    expect(shown.belief.content).toBe('-5 degrees is too cold.')
  })
})

describe('recall', () => {
  it('shows every tier and the reason for each relevant belief', async () => {
    using place = createSandbox()
    await place.run('remember', 'Likes short answers.', '--name', 'style', '--type', 'preference', '--subtype', 'style')
    await place.run('remember', 'Amounts are cents.', '--name', 'money', '--pin', '--scope', 'project:a')
    await place.run(
      'remember',
      'Cached on port 6380.',
      '--name',
      'Redis',
      '--why',
      'Never 6379.',
      '--scope',
      'project:a',
    )
    await place.run(
      'remember',
      'NATS or Postgres?',
      '--name',
      'queue',
      '--type',
      'open_question',
      '--pin',
      '--scope',
      'project:a',
    )

    const { stdout, stderr, exitCode } = await place.run(
      'recall',
      'Is',
      'reedis',
      'up?',
      '--scope',
      'project:a',
      '--scope',
      'user:universal',
    )

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout.replace(/b-\w+/g, 'b-ID').replace(/^ {2}[\d.]+ /m, '  SCORE ')).toBe(
      [
        'Preferences and standing instructions',
        '  Likes short answers.',
        '',
        'Pinned',
        '  money  b-ID  entity, project:a, pinned',
        '    Amounts are cents.',
        '',
        'Relevant to this message',
        '  SCORE  Redis  b-ID  entity, project:a',
        '    Cached on port 6380.',
        '    Why: Never 6379.',
        '    Because "reedis" (read as "redis") means its name "Redis".',
        '',
        'Still open',
        '  queue  b-ID  open question, project:a, pinned',
        '    NATS or Postgres?',
        '',
      ].join('\n'),
    )
  })

  it('explains each score with its numbers, and lists omitted beliefs', async () => {
    using place = createSandbox()
    await place.run(
      'remember',
      'Cached on port 6380.',
      '--name',
      'Redis',
      '--alias',
      'session cache',
      '--scope',
      'project:a',
    )
    await place.run('remember', 'The website is green.', '--name', 'palette', '--scope', 'project:b')

    const message = 'Does the session cache in Redis know the palette?'
    const { stdout } = await place.run('recall', message, '--explain', '--scope', 'project:a')
    const context = await place.json('recall', message, '--explain', '--scope', 'project:a')

    const lines = stdout.split('\n').map((line) => line.trim())
    const products = lines.filter((line) => line.includes(' × '))
    expect(products).toHaveLength(2)
    for (const line of products) {
      const [factors = '', result = ''] = line.split(' = ')
      const product = factors.split(' × ').reduce((value, factor) => value * Number.parseFloat(factor), 1)
      expect(product).toBeCloseTo(Number(result), 2)
    }
    const [, total = ''] = lines.find((line) => line.startsWith('together: '))?.split(' = ') ?? []
    expect(Number(total)).toBeCloseTo(context.relevant[0].score, 3)
    expect(stdout).toContain('"session cache" is its alias:')
    expect(stdout).toMatch(
      /Mentioned, but left out\n {2}"palette" \(b-\w+\): it belongs to project:b, which is not one of the active scopes\n/,
    )
    expect(context.nearMisses).toMatchObject([{ belief: { name: 'palette' }, reason: { kind: 'other-scope' } }])
  })

  it('reports that nothing matches, with the next step, and exits with 0', async () => {
    using place = createSandbox()
    await place.run(...terms, '--scope', 'project:a')

    const nothing = await place.run('recall', 'Good morning!', '--scope', 'project:empty')
    const document = await place.json('recall', 'Good morning!', '--scope', 'project:empty')

    expect(nothing).toEqual({
      exitCode: 0,
      stdout: '',
      stderr:
        'No belief or quote in project:empty matches this message.\n`credence search` looks in every scope; `credence remember` adds a belief.\n',
    })
    expect(document).toMatchObject({ prelude: null, pinned: [], relevant: [], questions: [] })
    expect(document).not.toHaveProperty('nearMisses')
  })

  it('prints the block for a prompt', async () => {
    using place = createSandbox()
    await place.run(...terms, '--scope', 'project:a')

    const { stdout } = await place.runWith(
      { stdin: 'payment terms?' },
      'recall',
      '-',
      '--render',
      '--scope',
      'project:a',
    )
    const document = await place.json('recall', 'payment terms?', '--render', '--scope', 'project:a')

    expect(stdout).toMatch(/^<memory>\n[\s\S]*- payment terms: Invoices are due after 14 days\.\n<\/memory>\n$/)
    expect(document).toEqual({ prompt: stdout })
  })

  it('respects the given budget', async () => {
    using place = createSandbox()
    for (const name of ['Redis', 'Kafka', 'Nginx'])
      await place.run('remember', `${name} is here.`, '--name', name, '--pin', '--scope', 'project:a')

    const context = await place.json('recall', 'hello', '--max-pinned', '2', '--near-misses', '--scope', 'project:a')

    expect(context.pinned).toHaveLength(2)
    expect(context.nearMisses).toMatchObject([{ reason: { kind: 'over-budget', limit: 'maxPinned' } }])
  })

  it("shows an agent's own beliefs to that agent alone", async () => {
    using place = createSandbox()
    await place.run('remember', 'Codex uses tabs.', '--name', 'tabs', '--agent', 'codex', '--scope', 'project:a')

    const asCodex = await place.json('recall', 'tabs?', '--agent', 'codex', '--scope', 'project:a')
    const asOther = await place.json('recall', 'tabs?', '--near-misses', '--scope', 'project:a')

    expect(asCodex.relevant).toHaveLength(1)
    expect(asOther.relevant).toEqual([])
    expect(asOther.nearMisses).toMatchObject([{ reason: { kind: 'other-agent', agent: 'codex' } }])
  })

  it('adds the participants of a relation, and names the relation', async () => {
    using place = createSandbox()
    const here = ['--scope', 'project:a'] as const
    await place.run('remember', 'Cached on port 6380.', '--name', 'Redis', ...here)
    await place.run(
      'remember',
      'Checkout depends on Redis.',
      '--name',
      'checkout',
      '--type',
      'relation',
      '--participant',
      'Redis',
      '--relation',
      'depends on',
      ...here,
    )

    const { stdout } = await place.run('recall', 'Why is checkout slow?', '--explain', ...here)

    expect(stdout).toMatch(/\n {2}0 {2}Redis {2}b-\w+[\s\S]*\n {4}part of the relation "checkout", so it comes after/)
  })

  it('creates no files if there is no memory', async () => {
    using place = createSandbox()

    const { exitCode, stdout, stderr } = await place.run('recall', 'anything')

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(stderr).toMatch(/^There is no memory in .*credence yet; `credence remember` creates one\.\n/)
    expect(readdirSync(place.home)).toEqual([])
  })

  it('creates no memory to report that nothing was synced', async () => {
    using place = createSandbox()

    expect(await place.run('sync', '--status')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('credence init'),
    })
    expect(readdirSync(place.home)).toEqual([])
  })

  it.each([['recall', 'anything'], ['search', 'anything'], ['beliefs'], ['history']])(
    'refuses a directory without a memory: %s',
    async (...argv) => {
      using place = createSandbox()
      mkdirSync(join(place.work, 'empty'))

      const missing = await place.run(...argv, '--dir', 'nowhere')
      const empty = await place.run(...argv, '--dir', 'empty')

      const refusal = (dir: string) => ({
        exitCode: 3,
        stdout: '',
        stderr: `error: There is no memory in ${join(place.work, dir)}.\nhint: Correct --dir, or create a memory with \`credence init\`.\n`,
      })
      expect(missing).toEqual(refusal('nowhere'))
      expect(empty).toEqual(refusal('empty'))
      expect(readdirSync(place.work)).toEqual(['empty'])
    },
  )
})

describe('recall without a named belief', () => {
  it('lists the nearest beliefs in view, with the alias that would match each', async () => {
    using place = createSandbox()
    const byWords = { env: { CREDENCE_SEMANTIC: 'off' } }
    await place.run(...terms)
    await place.run('remember', 'Invoices of this project are red.', '--name', 'colour', '--scope', 'project:other')
    await place.run('remember', 'Speak of invoices, never of bills.', '--name', 'wording', '--pin')

    const { exitCode, stderr } = await place.runWith(byWords, 'recall', 'When is the payment of an invoice settled?')
    const json = await place.runWith(byWords, 'recall', 'When is the payment of an invoice settled?', '--json')
    const { suggestions } = JSON.parse(json.stdout)
    const rendered = await place.runWith(byWords, 'recall', 'When is the payment of an invoice settled?', '--render')
    const everyday = await place.runWith(byWords, 'recall', 'When is an invoice settled?')
    const [, id, alias] = /credence alias (b-\w+) add "(.+)"$/m.exec(stderr) ?? []
    await place.run('alias', id ?? '', 'add', alias ?? '')
    const recalled = await place.json('recall', 'When is the payment of an invoice settled?')

    expect(exitCode).toBe(0)
    // No word of this message is distinctive enough to be an alias.
    expect(everyday.stderr).toContain('"payment terms" (')
    expect(everyday.stderr).not.toContain('credence alias')
    expect(stderr).toContain('"payment terms" (')
    expect(stderr).not.toContain('colour')
    expect(stderr).not.toContain('wording')
    expect(suggestions).toMatchObject([{ name: 'payment terms', alias }])
    expect(rendered.stderr).toBe('')
    expect(recalled.relevant).toMatchObject([{ belief: { name: 'payment terms' } }])
    expect(recalled).not.toHaveProperty('suggestions')
  })
})

describe('recall without results', () => {
  const asked = 'Is Tobias allergic to peanuts?'
  const nothing = 'No belief or quote in user:universal matches this message.\n'

  it('names other scopes of the user with an answer, without their texts', async () => {
    using place = createSandbox()
    await place.run('hear', 'My brother Tobias is allergic to peanuts.', '--session', 's', '--scope', 'project:a')
    for (const [name, scope] of [['Tobias', 'project:a'] as const, ['peanuts', 'project:b'] as const])
      await place.run('remember', 'A fact about food.', '--name', name, '--scope', scope)
    await place.run('remember', 'A fact about food.', '--name', 'Tobias', '--scope', 'project:a', '--user', 'ben')

    const { exitCode, stdout, stderr } = await place.run('recall', asked)
    const other = await place.run('recall', asked, '--user', 'eve')
    const rendered = await place.run('recall', asked, '--render')
    const there = await place.json('recall', asked, '--scope', 'project:a')

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(stderr.startsWith(nothing)).toBe(true)
    expect(stderr).toContain(
      '1 quote and 1 belief in project:a match, but that scope is not active here (--scope project:a).\n',
    )
    expect(stderr).toContain('1 belief in project:b matches, but that scope is not active here (--scope project:b).\n')
    expect(stderr).not.toMatch(/brother|food/)
    expect(there).toMatchObject({ quotes: [{}], relevant: [{}] })
    expect(other.stderr).not.toContain('project:')
    expect(rendered.stderr).toBe(nothing)
  })

  it('reports that below the lines that every message gets', async () => {
    using place = createSandbox()
    await place.run('remember', 'Answer in British English.', '--type', 'preference', '--name', 'language')

    const { stdout, stderr } = await place.run('recall', 'Where is the kayak?')
    const rendered = await place.run('recall', 'Where is the kayak?', '--render')

    expect(stdout).toContain('British English')
    expect(stderr).toBe(
      'No other belief or quote in user:universal matches this message.\n`credence search` looks in every scope; `credence remember` adds a belief.\n',
    )
    expect(rendered.stderr).toBe('')
  })
})

describe('why', () => {
  it('prints the verdict as a sentence, and a remedy for a belief that is not mentioned', async () => {
    using place = createSandbox()
    await place.run(...terms)

    const found = await place.run('why', 'What are the payment terms?', 'payment terms')
    const missed = await place.run('why', 'When is the payment?', 'payment terms', '--scope', 'project:a')
    const byWords = { env: { CREDENCE_SEMANTIC: 'off' } }
    const document = await place.runWith(byWords, 'why', 'When is the payment?', 'payment terms', '--json')
    const near = await place.json('why', 'When is the payment?', 'payment terms')

    expect(found.stdout).toMatch(
      /^"payment terms" \(b-\w+\) is recalled, as number 1 of the relevant beliefs, with a score of [\d.]+:\n/,
    )
    expect(missed.stdout).toContain('is not recalled: the message contains neither its name nor an alias.')
    expect(missed.stdout).toContain(
      '  payment terms  has "payment", lacks "terms"\n  due date       lacks "due", "date"\n',
    )
    expect(missed.stdout).toContain('It belongs to user:universal, which is not one of the active scopes.')
    expect(missed.stdout).toMatch(
      /credence alias b-\w+ add "the words"\nThe same command with --fix lists aliases .*\n$/,
    )
    expect(JSON.parse(document.stdout).verdict).toMatchObject({ kind: 'not-mentioned', inPrelude: false })
    expect(near.verdict).toMatchObject({ kind: 'perhaps', rank: 1 })
  })

  it('names the scope if it is the only reason why a turn is not quoted, and shows words as written', async () => {
    using place = createSandbox()
    const said = ['hear', 'My brother Tobias is allergic to peanuts.', '--session', 's', '--scope', 'project:a']
    await place.run(...said)
    const id = (await place.json('search', 'Tobias')).quotes[0].turn

    const elsewhere = await place.run('why', 'Is Tobias allergic to peanuts?', id)
    const there = await place.run('why', 'Is Tobias allergic to peanuts?', id, '--scope', 'project:a')
    const little = await place.runWith(
      { env: { CREDENCE_SEMANTIC: 'off' } },
      'why',
      'Which of my relatives are allergic to cats or dogs?',
      id,
      '--scope',
      'project:a',
    )

    expect(elsewhere.stdout).toContain(
      'is not quoted for this message.\n  It was said in project:a, which is not one of the active scopes. With --scope project:a it is quoted.\n',
    )
    expect(there.stdout).toMatch(/^It is quoted as (?:sure|perhaps relevant)\./)
    expect(little.stdout).toMatch(/the probability that one\s+of[\s\S]*contains "allergic"/u)
  })

  it('lists changes of the verdict, and makes one of them', async () => {
    using place = createSandbox()
    await place.run(...terms)
    const asked = ['why', 'When is the payment of the invoice settled?', 'payment terms'] as const

    const listed = await place.run(...asked, '--fix')
    const { wish, remedies } = await place.json(...asked, '--fix')
    const applied = await place.run(...asked, '--apply', '1')
    const recalled = await place.json('recall', 'When is the payment of the invoice settled?')
    const back = await place.run(...asked, '--fix')
    const undone = await place.run(...asked, '--apply', '1')

    expect(listed.stdout).toMatch(
      /^"payment terms" \(b-\w+\) is not recalled for this message\..*\n {2}1 {2}Add the alias "/,
    )
    expect(wish).toBe('present')
    expect(remedies[0]).toMatchObject({ kind: 'add-alias', achieves: true })
    expect(applied.stdout).toMatch(/^Done: "payment terms".*\n {2}Add the alias "/)
    expect(recalled.relevant).toMatchObject([{ belief: { name: 'payment terms' } }])
    expect(back.stdout).toMatch(/is recalled for this message\..*\n {2}1 {2}Remove the alias "/)
    expect(back.stdout).toMatch(/credence correct b-\w+ "what is true now"/)
    expect(undone.exitCode).toBe(0)
    expect((await place.json('recall', 'When is the payment of the invoice settled?')).relevant).toEqual([])
  })

  it('refuses to apply a remedy that is not in the list or does not change the belief', async () => {
    using place = createSandbox()
    await place.run(...terms)
    const asked = ['why', 'What are the payment terms?', 'payment terms'] as const

    const { remedies } = await place.json(...asked, '--fix')
    const absent = await place.run(...asked, '--apply', '99')
    const number = 1 + remedies.findIndex(({ kind }: { kind: string }) => kind === 'correct')
    const other = await place.run(...asked, '--apply', String(number))

    expect(absent).toMatchObject({ exitCode: 2, stdout: '' })
    expect(absent.stderr).toContain('there is no change 99;')
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/Instead: credence correct b-\w+ /) })
  })
})

describe('search', () => {
  it('explains why a turn without the words is found', async () => {
    using place = createSandbox()
    await place.run('hear', 'The deploy window is 14:00 to 16:00.', '--session', 's')
    await place.run('hear', 'Noted.', '--role', 'assistant', '--session', 's')

    const { stdout } = await place.run('search', 'deploy window')

    expect(stdout).toMatch(/16:00\.\n.*\n {4}Noted\.\n {4}A turn next to it has the words\.\n$/)
  })

  it('names the scope of a turn that is not in an active one', async () => {
    using place = createSandbox()
    await place.run('hear', 'The deploy window is 14:00 to 16:00.', '--session', 's', '--scope', 'project:a')

    const elsewhere = await place.run('search', 'deploy window')
    const here = await place.run('search', 'deploy window', '--scope', 'project:a')

    expect(elsewhere.stdout).toMatch(/^\w+ +[\d-]+, you said {2}t-\w+ {2}project:a\n/)
    expect(here.stdout).toMatch(/^\w+ +[\d-]+, you said {2}t-\w+\n/)
  })

  it('marks exact and possible hits, and hits by meaning only if it is on', async () => {
    using place = createSandbox()
    await place.run('remember', 'Cached on port 6380.', '--name', 'Redis', '--scope', 'project:a')
    await place.run('remember', 'Ada looks after redis and payroll.', '--name', 'Ada', '--scope', 'project:b')

    const plain = await place.run('search', 'redis')
    const colourful = await place.runWith({ columns: 80 }, 'search', 'redis')
    const scoped = await place.json('search', 'redis', '--scope', 'project:b')

    expect(plain.stdout).toMatch(
      /^exact {5}Redis {2}b-\w+ {2}entity, project:a\n {4}Cached on port 6380\.\npossible {2}Ada /,
    )
    expect(colourful.stdout).toContain('looks after \u001b[1m\u001b[4mredis\u001b[24m\u001b[22m and')
    expect(scoped).toMatchObject({ total: 1, beliefs: [{ strength: 'possible', belief: { name: 'Ada' } }] })
  })

  it('finds retired beliefs only on request, and reports empty and shortened results', async () => {
    using place = createSandbox()
    await place.run(...terms)
    await place.run('correct', 'payment terms', 'Invoices are due after 30 days.')

    const current = await place.json('search', 'invoices')
    const retired = await place.run('search', 'invoices', '--retired', '--limit', '1')
    const superseded = await place.json('search', 'invoices', '--status', 'superseded')
    const nothing = await place.run('search', 'kangaroo', '--type', 'decision')

    expect(current.total).toBe(1)
    expect(retired.stderr).toBe('1 more belief; see them with --offset 1.\n')
    expect(superseded.beliefs).toMatchObject([{ belief: { content: 'Invoices are due after 14 days.' } }])
    expect(nothing).toEqual({ exitCode: 0, stdout: '', stderr: 'Nothing was found for "kangaroo".\n' })
  })
})

describe('beliefs', () => {
  it('lists current beliefs, all beliefs, or the scopes', async () => {
    using place = createSandbox()
    await place.run(...terms, '--pin')
    await place.run('correct', 'payment terms', 'Invoices are due after 30 days.')
    await place.run('remember', 'Cached.', '--name', 'Redis', '--scope', 'project:a', '--type', 'decision')

    const current = await place.json('beliefs')
    const all = await place.json('beliefs', '--all')
    const page = await place.run('beliefs', '--all', '--limit', '1', '--offset', '1')
    const pinned = await place.json('beliefs', '--pinned', '--scope', 'user:universal')
    const superseded = await place.json('beliefs', '--status', 'superseded')
    const decisions = await place.run('beliefs', '--type', 'decision')
    const scopes = await place.run('beliefs', '--scopes')

    expect([current.total, all.total, pinned.total, superseded.total]).toEqual([2, 3, 1, 1])
    expect(page.stderr).toBe('1 more belief; see them with --offset 2.\n')
    expect(decisions.stdout).toMatch(/^ {2}Redis {2}b-\w+ {2}decision, project:a\n {4}Cached\.\n$/)
    expect(scopes.stdout).toBe('scope           beliefs\nproject:a       1\nuser:universal  1\n')
  })
})

describe('show and history', () => {
  it('show everything about a belief and its chain', async () => {
    using place = createSandbox()
    await place.run(...terms, '--why', 'Say so on quotes.')
    await place.run(
      'correct',
      'payment terms',
      'Invoices are due after 30 days.',
      '--name',
      'terms',
      '--alias',
      'net 30',
    )

    const shown = await place.run('show', 'due date')
    const old = await place.json('show', 'terms')
    const history = await place.run('history', 'terms')

    expect(shown.stdout).toMatch(/^name +terms\nstatement +Invoices are due after 30 days\.\n/)
    expect(shown.stdout).toMatch(/also called +net 30, payment terms, due date\n/)
    expect(shown.stdout).toMatch(/written by +person through cli, /)
    expect(shown.stdout).toMatch(
      /superseded +Invoices are due after 14 days\.\n *> .*holds +Invoices are due after 30 days\./,
    )
    expect(old.chain.map(({ status }: { status: string }) => status)).toEqual(['superseded', 'active'])
    expect(history.stdout).toMatch(
      /\n1 +[\d-]+ [\d:]+ +remember +person cli.*14 days\.\n2 +[\d-]+ [\d:]+ +correct +person cli.*30 days\.\n/,
    )
  })

  it('list the latest changes of all beliefs, including undone and forgotten ones', async () => {
    using place = createSandbox()
    await place.run(...terms)
    await place.run('remember', 'Secret.', '--name', 'secret')
    await place.run('pin', 'payment terms')
    await place.run('undo')
    await place.run('forget', 'secret', '--yes')

    const { stdout } = await place.run('history')
    const two = await place.json('history', '--limit', '2', '--before', '4')

    const kinds = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/)[2])
    expect(kinds).toEqual(['kind', 'forget', 'undo', 'pin', 'remember', 'remember'])
    expect(stdout).toContain('undone by 4')
    expect(stdout.match(/b-\w+, .*$/gm)).toEqual([
      expect.stringMatching(/^b-\w+, forgotten$/),
      expect.stringMatching(/^b-\w+, forgotten$/),
    ])
    expect(stdout).not.toContain('Secret')
    expect(two.events.map(({ number }: { number: number }) => number)).toEqual([3, 2])
  })
})

it('history reports whether a missing belief was rejected or withdrawn, if that change is listed', async () => {
  using place = createSandbox()
  await place.run('remember', 'A dinghy.', '--name', 'Albatross')
  await place.run('undo')
  await place.run('hear', 'I prefer canvas sails.')
  const [{ belief }] = (await place.json('review')).items
  await place.run('review', 'reject', belief.id)

  const { stdout } = await place.run('history')
  const older = await place.run('history', '--before', '2')

  expect(stdout.match(/(?<=b-\w+, ).*$/gm)?.map((how) => how.split(' ')[0])).toEqual([
    'rejected',
    'rejected',
    'withdrawn',
    'withdrawn',
  ])
  expect(older.stdout).toMatch(/b-\w+, rejected, withdrawn or forgotten/)
})

describe('the names of these commands in other programs', () => {
  it('work: add, list, get, unpin, remedies and delete', async () => {
    using place = createSandbox()

    const added = await place.run('add', 'Invoices are due after 14 days.', '--name', 'payment terms', '--pin')
    const listed = await place.json('list')
    const unpinned = await place.run('unpin', 'payment terms')
    const got = await place.json('get', 'payment terms')
    const remedies = await place.run('remedies', 'When must we pay?', 'payment terms')
    const deleted = await place.run('delete', 'payment terms', '--yes')
    const help = await place.run('help', 'unpin')
    const { stdout: commands } = await place.run('--help')

    expect(added.stdout).toMatch(/^Remembered "payment terms"/)
    expect(listed.items).toMatchObject([{ name: 'payment terms', pinned: true }])
    expect(unpinned).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"payment terms"') })
    expect(got.belief.pinned).toBe(false)
    expect(remedies.stdout).toContain('is not recalled for this message. This would change that:')
    expect(deleted.exitCode).toBe(0)
    expect((await place.json('list')).items).toEqual([])
    expect(help.stdout).toMatch(/^Usage: credence pin /)
    expect(commands).not.toMatch(/^ {2}(?:add|list|get|unpin|remedies|delete) /m)
  })
})

describe('pin, alias and undo', () => {
  it('change a belief, and report whether anything changed', async () => {
    using place = createSandbox()
    await place.run(...terms)

    const pinned = await place.run('pin', 'payment terms')
    const again = await place.run('pin', 'payment terms')
    const unpinned = await place.run('pin', 'payment terms', '--off')
    const added = await place.run('alias', 'payment terms', 'add', 'net 14', 'terms')
    const removed = await place.json('alias', 'payment terms', 'remove', 'Due Date')
    const listed = await place.run('alias', 'payment terms')
    const undone = await place.run('undo')
    const redone = await place.json('undo', '6')

    expect(pinned.stdout).toMatch(/^Pinned: "payment terms"/)
    expect(again.stdout).toMatch(/^Already pinned: /)
    expect(unpinned.stdout).toMatch(/^Unpinned: /)
    expect(added.stdout).toContain('Found by: payment terms, due date, net 14, terms')
    expect(removed.belief.aliases).toEqual(['net 14', 'terms'])
    expect(listed.stdout).toMatch(/^"payment terms" \(b-\w+\)\n {2}Found by: payment terms, net 14, terms\n$/)
    expect(undone.stdout).toMatch(
      /^Undone: change 5, alias by person cli, in user:universal\.\n {2}As before: "payment terms".*\n {2}To reverse this: `credence undo 6`\.\n$/,
    )
    expect(redone.restored).toMatchObject([{ aliases: ['net 14', 'terms'] }])
  })

  it('list the withdrawn beliefs, and ask before changing another project', async () => {
    using place = createSandbox()
    await place.run('remember', 'Cached on 6380.', '--name', 'Redis', '--scope', 'project:ledger')
    const atTerminal = (stdin: string, ...argv: readonly string[]) =>
      place.runWith({ columns: 80, stdin, env: { NO_COLOR: '1' } }, ...argv)

    const refused = await place.run('undo')
    const declined = await atTerminal('n\n', 'undo')
    const kept = await place.json('show', 'Redis')
    const agreed = await atTerminal('y\n', 'undo')
    const redo = await place.run('undo', '2')
    const redone = await place.run('undo', '2', '--yes')

    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      /^error: This belongs to another project: change 1, remember by person cli, was made in project:ledger: "Redis" \(b-\w+\)\.\nhint: `credence undo 1 --yes` undoes it;/,
    )
    expect(declined).toMatchObject({ exitCode: 3, stdout: '' })
    expect(declined.stderr).toContain('Change 1 was not undone.')
    expect(kept.belief.content).toBe('Cached on 6380.')
    expect(agreed.stdout).toMatch(
      /^Undone: change 1, remember by person cli, in project:ledger\.\n {2}Withdrawn: "Redis" \(b-\w+\): Cached on 6380\.\n/,
    )
    expect(redo.exitCode).toBe(2)
    expect(redone.stdout).toMatch(/^Undone: change 2, undo by person cli, in project:ledger\.\n {2}As before: "Redis"/)
  })
})

describe('resolve', () => {
  it('closes a question with a new decision, a known one, or none', async () => {
    using place = createSandbox()
    for (const name of ['queue', 'cache', 'port'])
      await place.run('remember', `Which ${name}?`, '--name', name, '--type', 'open_question', '--pin')

    const decided = await place.run('resolve', 'queue', '--decision', 'We use NATS.', '--name', 'message queue')
    const known = await place.json('resolve', 'cache', '--by', 'message queue')
    const dropped = await place.run('resolve', 'port')
    const recalled = await place.json('recall', 'hello')

    expect(decided.stdout).toMatch(
      /^Closed the question "queue".*\n {2}Settled by "message queue" \(b-\w+\): We use NATS\.\n$/,
    )
    expect(known.decision.name).toBe('message queue')
    expect(dropped.stdout).toMatch(/^Closed the question "port" \(b-\w+\)\.\n$/)
    expect(recalled.questions).toEqual([])
  })
})

describe('correct', () => {
  it('with the stored text reports that, and creates no new version', async () => {
    using place = createSandbox()
    await place.run(...terms)
    const { belief } = await place.json('show', 'payment terms')

    const { exitCode, stdout } = await place.run('correct', 'payment terms', belief.content)

    expect(exitCode).toBe(0)
    expect(stdout).toBe(`Unchanged: "payment terms" (${belief.id}) in ${belief.scopes[0]} already has this text.\n`)
    expect((await place.json('show', 'payment terms')).chain).toHaveLength(1)
  })
})

describe('forget', () => {
  it('erases the text, and the whole chain on request', async () => {
    using place = createSandbox()
    await place.run(...terms)
    await place.run('correct', 'payment terms', 'Invoices are due after 30 days.')

    const { exitCode, stdout } = await place.run('forget', 'payment terms', '--chain', '--yes')
    const left = await place.json('beliefs', '--all')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^Forgotten: 2 beliefs \(b-\w+, b-\w+\)\.\n {2}Receipt: change 3, [0-9a-f]{16}\n$/)
    expect(left.total).toBe(0)
  })

  it('asks at a terminal, shows a preview, and accepts only yes', async () => {
    using place = createSandbox()
    await place.run(...terms)
    const forget = (stdin: string) =>
      place.runWith({ columns: 80, stdin, env: { NO_COLOR: '1' } }, 'forget', 'due date')

    const declined = await forget('n\n')
    const unanswered = await forget('')
    const interrupted = await forget('\u0003')
    const agreed = await forget('y\n')

    expect(declined).toMatchObject({ exitCode: 0, stdout: 'Nothing was forgotten.\n' })
    expect(declined.stderr).toMatch(
      /payment terms {2}b-\w+[\s\S]*Invoices are due after 14 days\.[\s\S]*Forget this for good\? \[y\/N\]/,
    )
    expect(unanswered.stdout).toBe('Nothing was forgotten.\n')
    expect(interrupted).toMatchObject({ exitCode: 130, stdout: '' })
    expect(agreed.stdout).toMatch(/^Forgotten: 1 belief /)
  })

  it('refuses without a terminal', async () => {
    using place = createSandbox()
    await place.run(...terms)

    const refused = await place.run('forget', 'payment terms')

    expect(refused).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'error: Forgetting cannot be undone, and there is no terminal to ask for confirmation.\nhint: Give --dry-run to see what would be forgotten, and --yes to forget it.\n',
    })
    expect((await place.json('beliefs')).total).toBe(1)
  })

  it('first reports an unknown belief', async () => {
    using place = createSandbox()
    await place.run(...terms)

    const refused = await place.run('forget', 'nothere')

    expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no belief "nothere".') })
  })
})

describe('the memory directory and its user', () => {
  it('follows the options, the environment, ./memory and the settings, in this order', async () => {
    using place = createSandbox()
    const here = join(place.work, 'memory')

    await place.run('init', '--dir', 'memory')
    await place.run(...terms)
    const other = await place.runWith({ env: { CREDENCE_DIR: join(place.path, 'other') } }, ...terms, '--json')
    const ada = await place.runWith({ env: { CREDENCE_USER: 'ada' } }, 'beliefs', '--json')

    expect(existsSync(join(place.home, '.local', 'share'))).toBe(false)
    expect(existsSync(join(here, 'state', 'credence.db'))).toBe(true)
    expect(JSON.parse(other.stdout).outcome).toBe('remembered')
    expect(JSON.parse(ada.stdout).total).toBe(0)
  })
})
