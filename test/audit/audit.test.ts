import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { auditEntries } from '../../src/memory/audit/audit.ts'
import { workplace } from '../cli/workplace.ts'
import { jsonLines, write } from '../transfer/chat-files.ts'

const now = new Date('2026-11-16T12:00:00Z')
const entry = (text: string, line = 1, name: string | null = null) => ({ file: 'm.md', line, name, text, at: null })
const kindsOf = (...texts: readonly string[]): readonly string[] =>
  auditEntries(
    texts.map((text, index) => entry(text, index + 1)),
    now,
  ).map(({ kind, entries }) => `${kind} ${entries.map(({ line }) => line).join(',')}`)

describe('an audit finds', () => {
  it.each([
    ['two values of one thing', ['The staging port is 5432.', 'The staging port is 5433.'], ['contradiction 1,2']],
    [
      'a word against another',
      ['We deploy the ledger on Mondays.', 'We deploy the ledger on Fridays.'],
      ['contradiction 1,2'],
    ],
    ['a negation', ['Use tabs in Makefile rules.', 'Never use tabs in Makefile rules.'], ['contradiction 1,2']],
    ['the same statement twice', ['The kayak is in Voss.', 'the kayak is in Voss'], ['duplicate 1,2']],
    ['the same words in another order', ['Redis caches sessions.', 'Sessions: Redis caches.'], ['duplicate 1,2']],
    ['a date long past', ['The Voss regatta is on 3 May 2024.'], ['stale date 1']],
    ['a date that moves', ['Ship the Voss regatta page next Friday.'], ['stale date 1']],
    ['an entry without a word of its own', ['It is done.'], ['never found 1']],
  ])('%s', (_, texts, expected) => {
    expect(kindsOf(...texts)).toEqual(expected)
  })

  it.each([
    ['different things', ['The staging port is 5432.', 'The boathouse has a red door.']],
    [
      'the members of a list',
      ['The crew includes Ann.', 'The crew includes Bob.', 'The crew includes Cy.', 'The crew includes Di.'],
    ],
    ['other subjects with the same property', ['Ann likes Voss tea.', 'Bob likes Voss tea.']],
    ['a habit', ['The Voss ferry sails every Friday.']],
    ['a date of this year', ['The Voss regatta is on 3 May 2026.']],
  ])('nothing wrong with %s', (_, texts) => {
    expect(kindsOf(...texts)).toEqual([])
  })

  it('secrets, and repeats none of them', () => {
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`

    const findings = auditEntries([entry(`The deploy token is ${token}.`)], now)

    expect(findings).toMatchObject([{ kind: 'secret' }])
    expect(JSON.stringify(findings)).not.toContain(token)
  })

  it('names that everything finds', () => {
    expect(auditEntries([entry('Voss has a regatta.', 1, 'project')], now)).toMatchObject([{ kind: 'always found' }])
  })

  it('the same whatever the order of the entries, and nothing that is not there', () => {
    const text = fc.constantFrom(
      'Use npm test here.',
      'Use pnpm test here.',
      'It is done.',
      'Voss is nice.',
      'voss is nice',
    )
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), (texts) => {
        const entries = texts.map((words, index) => entry(words, index + 1))

        const findings = auditEntries(entries, now)
        const reversed = auditEntries([...entries].reverse(), now)

        const count = (found: typeof findings) => found.map(({ kind }) => kind).sort()
        expect(count(findings)).toEqual(count(reversed))
        for (const { entries: about } of findings) for (const one of about) expect(entries).toContainEqual(one)
      }),
    )
  })
})

describe('credence audit', () => {
  it.each([
    ['MEMORY.md', '# Notes\n\n- **staging port**: 5432\n- The kayak is in Voss.\n- The kayak is in Voss.\n', 3],
    [
      'memory.jsonl',
      jsonLines(
        {
          type: 'entity',
          name: 'kayak',
          entityType: 'boat',
          observations: ['The kayak is in Voss.', 'The kayak is in Voss.'],
        },
        { type: 'relation', from: 'kayak', to: 'Voss', relationType: 'stored_in' },
      ),
      3,
    ],
    [
      'mem0.json',
      JSON.stringify({
        results: [
          { id: '1', memory: 'The kayak is in Voss.', created_at: '2026-05-01T00:00:00Z' },
          { id: '2', memory: 'The kayak is in Voss', created_at: '2026-05-01T00:00:00Z' },
        ],
      }),
      2,
    ],
    ['facts.jsonl', jsonLines({ text: 'The kayak is in Voss.' }, { content: 'The kayak is in Voss.' }), 2],
  ])('reads %s and imports nothing', async (name, content, entries) => {
    using place = workplace()
    const path = write(place.work, name, content)

    const report = await place.json('audit', path)

    expect(report).toMatchObject({ entries, problems: [], counts: { duplicate: 1, contradiction: 0 } })
    expect(existsSync(join(place.home, '.local', 'share', 'credence'))).toBe(false)
  })

  it('reads a directory, reports what it cannot read, and prints a table and a page', async () => {
    using place = workplace()
    write(place.work, 'notes/CLAUDE.md', '- Use npm test in Voss.\n')
    write(place.work, 'notes/deep/memory.jsonl', '{"text": "Use pnpm test in Voss."}\n{"text"\n{"other": 1}\n')
    const markup = { text: '<script>alert(1)</script> is in Voss.' }
    write(place.work, 'notes/<b>.jsonl', jsonLines(markup, markup))

    const { exitCode, stdout, stderr } = await place.run('audit', join(place.work, 'notes'), '--html', 'audit.html')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^4 entries in 3 files: 1 contradiction, 1 duplicate, 0 stale date/u)
    expect(stdout).toContain('CLAUDE.md:1')
    expect(stderr).toContain('memory.jsonl, line 2: It is not JSON.')
    expect(stderr).toContain('memory.jsonl, line 3: It has no text.')
    const page = readFileSync(join(place.work, 'audit.html'), 'utf8')
    expect(page).toContain('&lt;script&gt;')
    expect(page).not.toContain('<script>')
  })

  it('gives the same report for the same files and day', async () => {
    using place = workplace()
    const path = write(place.work, 'a.md', '- Ship the Voss page next Friday.\n- The regatta was on 3 May 2024.\n')

    const one = await place.run('audit', path, '--now', '2026-11-16', '--json')
    const two = await place.run('audit', path, '--now', '2026-11-16', '--json')

    expect(one.stdout).toBe(two.stdout)
    expect(JSON.parse(one.stdout).counts['stale date']).toBe(2)
  })

  it('refuses a file that is not there and a day that is none', async () => {
    using place = workplace()

    expect(await place.run('audit', 'nothing.md')).toMatchObject({ exitCode: 3 })
    expect(await place.run('audit', place.work, '--now', 'someday')).toMatchObject({ exitCode: 2 })
    expect(await place.run('audit', place.work)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('no entries'),
    })
  })
})
