import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findProblems } from '../../src/memory/transfer/import-findings.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { jsonLines, write } from './chat-files.ts'

const now = new Date('2026-11-16T12:00:00Z')
const entry = (text: string, line = 1, name: string | null = null) => ({
  place: `m.md, line ${line}`,
  name,
  text,
  at: null,
})
const kindsOf = (...texts: readonly string[]): readonly string[] =>
  findProblems(
    texts.map((text, index) => entry(text, index + 1)),
    now,
  ).map(({ kind, entries }) => `${kind} ${entries.map(({ place }) => place.replace('m.md, line ', '')).join(',')}`)

describe('findProblems finds', () => {
  it.each([
    ['two values of one thing', ['The staging port is 5432.', 'The staging port is 5433.'], ['contradiction 1,2']],
    [
      'one word in place of another',
      ['We deploy the ledger on Mondays.', 'We deploy the ledger on Fridays.'],
      ['contradiction 1,2'],
    ],
    ['a negation', ['Use tabs in Makefile rules.', 'Never use tabs in Makefile rules.'], ['contradiction 1,2']],
    ['the same statement twice', ['The kayak is in Voss.', 'the kayak is in Voss'], ['duplicate 1,2']],
    ['the same words in another order', ['Redis caches sessions.', 'Sessions: Redis caches.'], ['duplicate 1,2']],
    ['a date in the past', ['The Voss regatta is on 3 May 2024.'], ['stale date 1']],
    ['a relative date', ['Ship the Voss regatta page next Friday.'], ['stale date 1']],
    ['an entry without a distinctive word', ['It is done.'], ['never found 1']],
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
  ])('no problem in %s', (_, texts) => {
    expect(kindsOf(...texts)).toEqual([])
  })

  it('secrets, without repeating them', () => {
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`

    const findings = findProblems([entry(`The deploy token is ${token}.`)], now)

    expect(findings).toMatchObject([{ kind: 'secret' }])
    expect(JSON.stringify(findings)).not.toContain(token)
  })

  it('names that match every message', () => {
    expect(findProblems([entry('Voss has a regatta.', 1, 'project')], now)).toMatchObject([{ kind: 'always found' }])
  })

  it('the same problems for any order of the entries, and only in existing entries', () => {
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

        const findings = findProblems(entries, now)
        const reversed = findProblems([...entries].reverse(), now)

        const count = (found: typeof findings) => found.map(({ kind }) => kind).sort()
        expect(count(findings)).toEqual(count(reversed))
        for (const { entries: about } of findings) for (const one of about) expect(entries).toContainEqual(one)
      }),
    )
  })
})

describe('credence import --dry-run', () => {
  it('reports problems of Markdown, and imports nothing', async () => {
    using place = createSandbox()
    const path = write(place.work, 'MEMORY.md', '# Notes\n\n- **kayak**: red\n- It is in Voss.\n- It is in Voss.\n')

    await place.run('remember', 'A dinghy.', '--name', 'Albatross')

    const { exitCode, stdout } = await place.run('import', '--markdown', path, '--dry-run')

    expect(exitCode).toBe(0)
    expect(stdout).toContain('Nothing was changed.')
    expect(stdout).toMatch(/duplicate +MEMORY\.md, line 4 +The same statement, 2 times\. It is in Voss\./u)
    expect((await place.json('beliefs')).total).toBe(1)
  })

  it('reports problems of records, and counts what would be imported', async () => {
    using place = createSandbox()
    const record = (name: string, content: string) => ({ name, content, type: 'entity', scopes: ['domain:boats'] })
    const records = [record('staging port', 'The staging port is 5432.'), record('project', 'Voss has a regatta.')]
    const path = write(place.work, 'beliefs.jsonl', jsonLines(...records))

    const planned = await place.json('import', path, '--dry-run')
    const imported = await place.json('import', path)

    expect(planned).toMatchObject({ added: 2, events: [], findings: [{ kind: 'always found' }] })
    expect(imported).toMatchObject({ added: 2 })
    expect(imported.findings).toBeUndefined()
  })
})
