import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

const ours = { id: 'b-ours', name: 'Redis', aliases: ['session cache'], content: 'Port 6380.', scopes: ['project:a'] }
const theirs = {
  _id: 'b-theirs',
  user_id: 'local',
  canonical_name: 'Postgres',
  aliases: ['main database'],
  content: 'Version 17.',
  why_it_matters: 'Use its syntax.',
  scope: ['project:a'],
  epistemic_status: 'active',
  type: 'decision',
}

describe('import chats', () => {
  const chat = (place: { readonly work: string }) => {
    const file = join(place.work, 'chat.jsonl')
    const said = ['Remember that the cellar key hangs behind the oven.', 'Off the record: I am tired.']
    writeFileSync(
      file,
      said.map((text, nth) => `${JSON.stringify({ session: 's', messageId: `m${nth}`, text })}\n`).join(''),
    )
    return file
  }

  it('reports why turns are skipped', async () => {
    using place = createSandbox()
    await place.run('import', 'chats', chat(place))
    await place.run('forget', '--containing', 'cellar', '--yes')

    const { stdout } = await place.run('import', 'chats', chat(place))

    expect(stdout).toContain('2 skipped (1 forgotten before, 1 off the record), ')
  })

  it('shows no ids in a dry run, because they would not exist afterwards', async () => {
    using place = createSandbox()

    const dry = await place.run('import', 'chats', chat(place), '--dry-run')
    const real = await place.run('import', 'chats', chat(place))

    expect(dry.stdout).toContain('candidate "cellar key" in ')
    expect(real.stdout).toMatch(/candidate "cellar key" \(b-\w+\) in /)
  })
})

describe('import', () => {
  it('names the command for conversations if the file contains another kind of data', async () => {
    using place = createSandbox()
    const file = join(place.work, 'conversations.json')
    writeFileSync(file, JSON.stringify([{ title: 'Dinner', mapping: {} }]))

    const { exitCode, stderr } = await place.run('import', file)

    expect(exitCode).toBe(3)
    expect(stderr).toContain('conversations.json, item 1: The field name is missing.')
    expect(stderr).toContain('`credence import chats`')
  })

  it('reports why beliefs wait, with the next step, and a second import with --trusted makes them active', async () => {
    using place = createSandbox()
    const [mine, copy] = ['mine', 'copy'].map((name) => ['--dir', join(place.work, name)] as const)
    await place.run('remember', 'I am allergic to peanuts.', '--name', 'peanuts', ...(mine ?? []))
    const file = join(place.work, 'x.jsonl')
    await place.run('export', '--out', file, ...(mine ?? []))

    const first = await place.run('import', file, ...(copy ?? []))
    const again = await place.json('import', file, ...(copy ?? []))
    const trusted = await place.json('import', file, '--trusted', ...(copy ?? []))

    expect(first.stderr).toMatch(/^1 belief not recalled yet: .* user:universal, .* wait for your consent/mu)
    expect(first.stderr).toContain('import it again with --trusted; otherwise decide on each with `credence review`.')
    expect(again).toMatchObject({ unchanged: 1, proposed: 0, warnings: [] })
    expect(trusted).toMatchObject({ corrected: 1, proposed: 0 })
    expect((await place.json('beliefs', ...(copy ?? []))).items).toMatchObject([{ name: 'peanuts', status: 'active' }])
  })

  it.each([
    ['a JSON array', JSON.stringify([ours, theirs])],
    ['JSON Lines', `${JSON.stringify(ours)}\n\n${JSON.stringify(theirs)}\n`],
  ])('accepts both spellings from %s, once', async (_kind, text) => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'beliefs'), text)
    const file = join(place.work, 'beliefs')

    const first = await place.json('import', file)
    const second = await place.run('import', file)
    const recalled = await place.json(
      'recall',
      'Does the session cache need the main database?',
      '--scope',
      'project:a',
    )

    expect(first).toMatchObject({ added: 2, unchanged: 0, warnings: [] })
    expect(second.stdout).toBe('added       0\nunchanged   2\nreinforced  0\ncorrected   0\nproposed    0\n')
    expect(recalled.relevant.map((hit: { belief: { id: string } }) => hit.belief.id).sort()).toEqual([
      'b-ours',
      'b-theirs',
    ])
  })

  it.each([
    ['a line that is not JSON', '{"name": broken', /^error: bad\.jsonl, line 2: not JSON/],
    ['a belief without a name', '{"content": "x"}', /^error: bad\.jsonl, line 2: The field name is missing\./],
    [
      'an unknown status',
      JSON.stringify({ ...theirs, epistemic_status: 'maybe' }),
      /line 2: The field status is "maybe"/,
    ],
    ['a duplicate id', JSON.stringify({ ...ours, name: 'other' }), /line 2: the id "b-ours" was used before/],
  ])('changes nothing if there is %s', async (_what, line, message) => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'bad.jsonl'), `${JSON.stringify(ours)}\n${line}\n`)

    const { exitCode, stdout, stderr } = await place.run('import', join(place.work, 'bad.jsonl'))

    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' })
    expect(stderr).toMatch(message)
    expect((await place.json('beliefs', '--all')).total).toBe(0)
    expect((await place.json('history')).events).toEqual([])
  })

  it('refuses a file that is not text, a directory, and a missing file', async () => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'latin1'), Buffer.from([0x7b, 0xe9, 0x7d]))

    const binary = await place.run('import', join(place.work, 'latin1'))
    const directory = await place.run('import', place.work)
    const empty = await place.runWith({ stdin: ' \n' }, 'import', '-')

    expect(binary).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('latin1 is not UTF-8 text.') })
    expect(directory).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('it is a directory') })
    expect(empty).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('standard input is empty.') })
  })

  it('warns about unknown fields, on standard error', async () => {
    using place = createSandbox()

    const { exitCode, stderr } = await place.runWith(
      { stdin: JSON.stringify([{ ...ours, mood: 'good' }]) },
      'import',
      '-',
    )

    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/^warning: standard input, item 1: ignored unknown field mood\.\n/)
  })

  it('gives beliefs without a scope the requested one, or the default', async () => {
    using place = createSandbox()
    const { scopes: _scopes, ...bare } = ours

    await place.runWith({ stdin: JSON.stringify(bare) }, 'import', '-', '--scope', 'project:b')
    await place.runWith({ stdin: JSON.stringify({ ...bare, id: 'b-2', name: 'Other' }) }, 'import', '-')

    expect((await place.json('show', 'b-ours')).belief.scopes).toEqual(['project:b'])
    expect((await place.json('show', 'b-2')).belief.scopes).toEqual(['user:universal'])
  })
})

describe('export', () => {
  it('exports a file that another memory imports unchanged', async () => {
    using place = createSandbox()
    await place.run('remember', 'Due after 14 days.', '--name', 'terms', '--pin', '--scope', 'project:a')
    await place.run('correct', 'terms', 'Due after 30 days.')
    await place.run('remember', 'Likes tea.', '--name', 'tea', '--scope', 'user:universal')

    const exported = await place.run('export')
    const scoped = await place.run('export', '--scope', 'user:universal')
    await place.runWith({ stdin: exported.stdout }, 'import', '-', '--trusted', '--dir', 'copy')
    const copied = await place.run('export', '--dir', 'copy')

    const sorted = ({ stdout }: { stdout: string }) =>
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => ({ ...JSON.parse(line), version: 0 }))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(sorted(exported)).toHaveLength(3)
    expect(sorted(scoped).map(({ name }) => name)).toEqual(['tea'])
    expect(sorted(copied)).toEqual(sorted(exported))
  })

  it('with --json prints one array, even if it is empty', async () => {
    using place = createSandbox()

    const nothing = await place.json('export')
    await place.run('remember', 'Likes tea.', '--name', 'tea')
    const one = await place.json('export')

    expect(nothing).toEqual([])
    expect(one).toMatchObject([{ name: 'tea' }])
  })

  it('writes a private file completely, replacing an older one, without temporary files', async () => {
    using place = createSandbox()
    await place.run('remember', 'Likes tea.', '--name', 'tea')
    writeFileSync(join(place.work, 'out.jsonl'), 'old', { mode: 0o644 })
    const file = join(place.work, 'out.jsonl')

    const written = await place.json('export', '--out', 'out.jsonl')
    const failed = await place.run('export', '--out', 'nowhere/out.jsonl')

    expect(written).toEqual({ file, beliefs: 1 })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ name: 'tea' })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(failed.exitCode).toBe(3)
    expect(failed.stderr).toMatch(/^error: There is no directory .*nowhere\./)
    expect(readdirSync(place.work)).toEqual(['out.jsonl'])
  })
})
