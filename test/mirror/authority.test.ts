import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Belief, isStanding } from '../../src/beliefs/belief.ts'
import { openMemory } from '../../src/open-memory.ts'
import { tries } from '../full-counts.ts'
import { lineOf, mirroredMemory, nothingTaken, withoutLine } from './mirrored-memory.ts'

type Place = ReturnType<typeof mirroredMemory>

/** A memory whose beliefs belong to a project, with one that a document stated and one that a person stated. */
async function withBoth(): Promise<Place> {
  const place = mirroredMemory()
  const document = openMemory({ dir: place.dir, author: { actor: 'document', origin: 'notes.md' } })
  await document.remember({ name: 'queue', content: 'NATS', scopes: ['project:x'] })
  await document.close()
  await place.memory.remember({ name: 'terms', content: '14 days.', scopes: ['project:x'], aliases: ['due date'] })
  return place
}

const appendedTo =
  (section: string, line: string) =>
  (text: string): string =>
    text.replace(section, `${section}${line}\n`)

describe('an edit that applies immediately', () => {
  it('adds an ordinary belief, with the file as its author', async () => {
    await using place = await withBoth()

    place.edit(appendedTo('### Facts\n\n', '- **port**: 4777'))
    const { taken, undecided } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, added: 1 })
    expect(undecided).toEqual([])
    expect(await place.memory.get('port')).toMatchObject({
      status: 'inferred',
      editedByPerson: false,
      provenance: { actor: 'document', origin: 'file' },
    })
  })

  it('changes or removes a belief of a document', async () => {
    await using place = await withBoth()

    place.edit((text) => text.replace('NATS', 'Kafka'))
    const changed = await place.sync()
    place.edit((text) => withoutLine(text, 'queue'))
    const removed = await place.sync()

    expect(changed.taken).toEqual({ ...nothingTaken, corrected: 1 })
    expect(removed.taken).toEqual({ ...nothingTaken, retired: 1 })
    expect(await place.beliefs()).toEqual({ terms: '14 days.' })
  })
})

describe('a line with an alias that only a person may give', () => {
  it('waits outside the file, and gets all of its aliases once it is accepted', async () => {
    await using place = await withBoth()
    const line = '- **fleet van**: It has its inspection in March.\n  - aliases: Sprinter, delivery van'

    place.edit(appendedTo('### Facts\n\n', line))
    const { taken, undecided, refused } = await place.sync()

    expect({ taken, refused }).toEqual({ taken: { ...nothingTaken, proposed: 1 }, refused: [] })
    expect(await place.beliefs()).not.toHaveProperty('fleet van')
    expect(place.text()).not.toContain('fleet van')
    await place.memory.accept(undecided[0]?.proposal.id ?? '')
    expect(await place.memory.get('Sprinter')).toMatchObject({
      aliases: ['Sprinter', 'delivery van'],
      status: 'active',
    })
    expect(await place.sync()).toMatchObject({ taken: nothingTaken, undecided: [] })
  })
})

describe("an edit of a person's statement", () => {
  async function changed() {
    const place = await withBoth()
    place.edit((text) => text.replace('14 days.', '30 days.'))
    const synced = await place.sync()
    return { place, synced }
  }

  it('waits as a proposal, and the file shows the stored text, which agents read', async () => {
    const { place, synced } = await changed()
    await using _ = place

    expect(synced.taken).toEqual({ ...nothingTaken, proposed: 1 })
    expect(synced.undecided).toMatchObject([{ proposal: { content: '30 days.' }, target: { content: '14 days.' } }])
    expect(await place.beliefs()).toEqual({ queue: 'NATS', terms: '14 days.' })
    expect(lineOf(place.text(), 'terms')).toContain('14 days.')
    expect(await place.memory.proposals()).toMatchObject([
      {
        proposal: { content: '30 days.', provenance: { actor: 'document', origin: 'file' } },
        target: { name: 'terms' },
      },
    ])
  })

  it('is proposed once, however often it is repeated', async () => {
    const { place } = await changed()
    await using _ = place

    place.edit((text) => `${text.replace('14 days.', '30 days.')}A note of mine.\n`)
    await place.sync()

    expect(await place.memory.proposals()).toHaveLength(1)
    expect(lineOf(place.text(), 'terms')).toContain('14 days.')
    expect(place.text()).toContain('A note of mine.')
    expect((await place.status()).undecided).toHaveLength(1)
  })

  it('becomes the person’s once it is accepted', async () => {
    const { place, synced } = await changed()
    await using _ = place

    await place.memory.accept(synced.undecided[0]?.proposal.id ?? '')

    const belief = await place.memory.get('terms')
    expect(belief).toMatchObject({ content: '30 days.', status: 'active', editedByPerson: true, aliases: ['due date'] })
    expect(lineOf(place.text(), 'terms')).toBe(`- **terms**: 30 days. <!-- credence:${belief.id} -->`)
    expect(place.text().match(/\*\*terms\*\*/gu)).toHaveLength(1)
    expect(await place.sync()).toMatchObject({ taken: nothingTaken, written: [], undecided: [] })
  })

  it('restores the stored text in the file if it is rejected, and is not proposed again', async () => {
    const { place, synced } = await changed()
    await using _ = place

    await place.memory.reject(synced.undecided[0]?.proposal.id ?? '')

    expect(lineOf(place.text(), 'terms')).toContain('14 days.')
    expect(await place.sync()).toMatchObject({ taken: nothingTaken, written: [], undecided: [] })
    expect(await place.memory.proposals()).toEqual([])
  })

  it('waits if the store changes the same words before it is decided', async () => {
    const { place } = await changed()
    await using _ = place

    await place.memory.correct('terms', { content: '90 days.' })

    expect(lineOf(place.text(), 'terms')).toContain('90 days.')
    expect((await place.beliefs()).terms).toBe('90 days.')
    expect(await place.memory.proposals()).toMatchObject([
      { proposal: { content: '30 days.' }, target: { content: '90 days.' } },
    ])
    expect((await place.status()).undecided).toHaveLength(1)
  })

  it('waits too if it is a new line with the name of the belief', async () => {
    await using place = await withBoth()

    place.edit(appendedTo('### Facts\n\n', '- **terms**: 30 days.'))
    const { undecided } = await place.sync()

    expect(undecided).toMatchObject([{ proposal: { content: '30 days.' }, target: { content: '14 days.' } }])
    expect(place.text().match(/\*\*terms\*\*/gu)).toHaveLength(1)
    expect(lineOf(place.text(), 'terms')).toContain('14 days.')
  })

  it('waits too if a program has dropped every comment', async () => {
    await using place = await withBoth()

    place.edit((text) => text.replace(/ ?<!--.*?-->/gu, '').replace('14 days.', '30 days.'))
    await place.sync()
    await place.sync()

    expect(await place.beliefs()).toEqual({ queue: 'NATS', terms: '14 days.' })
    const [waiting, ...others] = await place.memory.proposals()
    expect(others).toEqual([])
    expect(place.text().match(/\*\*terms\*\*/gu)).toHaveLength(1)

    await place.memory.accept(waiting?.proposal.id ?? '')

    expect(await place.beliefs()).toEqual({ queue: 'NATS', terms: '30 days.' })
    expect(place.text().match(/\*\*terms\*\*/gu)).toHaveLength(1)
  })

  it('waits once if the edited line is there twice, and no other line leaves the file', async () => {
    await using place = await withBoth()
    await place.memory.remember({ name: 'rent', content: '14 days.', scopes: ['project:x'] })
    place.edit((text) => text.replace(/(- \*\*rent\*\*: )14( days\..*\n)/u, '$130$2$130$2'))
    await place.sync()
    place.edit((text) => `${text}A note of mine.\n`)

    const { undecided } = await place.sync()
    await place.memory.accept(undecided[0]?.proposal.id ?? '')

    expect(undecided).toHaveLength(1)
    expect(place.text().match(/30 days/gu)).toHaveLength(1)
    expect(place.text()).toContain('A note of mine.\n')
  })

  it('waits also for a statement of an agent', async () => {
    await using place = await withBoth()
    const agent = openMemory({ dir: place.dir, author: { actor: 'agent', origin: 'codex' } })
    await agent.remember({ name: 'editor', content: 'vim', scopes: ['project:x'] })
    await agent.close()

    place.edit((text) => text.replace(': vim', ': emacs'))
    const { undecided } = await place.sync()

    expect(undecided).toMatchObject([{ proposal: { content: 'emacs' }, target: { content: 'vim' } }])
  })
})

describe('a new line for every context', () => {
  it.each([
    ['under New', (text: string) => `${text}- Always run the installer first.\n`],
    [
      'in a section of user:universal',
      (text: string) =>
        text.replace('## project:x', '## user:universal\n\n- Always run the installer first.\n\n## project:x'),
    ],
    [
      'with a line that lists scopes',
      appendedTo('### Facts\n\n', '- Always run the installer first.\n  - scopes: project:x, user:universal'),
    ],
  ])('%s waits as a candidate, and is not recalled until a person accepts it', async (_where, edit) => {
    await using place = await withBoth()

    place.edit(edit)
    const { taken, undecided } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, proposed: 1 })
    expect(undecided).toMatchObject([{ proposal: { candidate: true }, target: null }])
    expect(await place.memory.candidates()).toMatchObject([{ reason: expect.stringContaining('MEMORY.md') }])
    expect(JSON.stringify(await place.memory.recall('Which installer is to run first?'))).not.toContain(
      'installer first',
    )
    const shown = place.text()
    expect(shown).not.toContain('installer')
    expect(await place.sync()).toMatchObject({ taken: nothingTaken, written: [] })

    await place.memory.accept(undecided[0]?.proposal.id ?? '')

    expect(Object.values(await place.beliefs())).toContain('Always run the installer first.')
    expect(place.text().match(/installer first.*<!-- credence:b-\w+ -->/gu)).toHaveLength(1)
    expect(await place.sync()).toMatchObject({ taken: nothingTaken, written: [], undecided: [] })
  })

  it('leaves the file if it is rejected, and every stored version if it is forgotten', async () => {
    await using place = await withBoth()
    place.edit((text) => `${text}- The word is xyzzy-4711.\n- The other is plugh-9.\n`)
    const { undecided } = await place.sync()
    const idOf = (word: string) => undecided.find(({ proposal }) => proposal.content.includes(word))?.proposal.id ?? ''

    await place.memory.reject(idOf('plugh'))
    await place.memory.forget(idOf('xyzzy'))

    expect(place.text()).not.toMatch(/xyzzy|plugh/u)
    const { globSync } = await import('node:fs')
    const holding = globSync(`${place.dir}/**/*`, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('credence.db'))
      .filter((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'latin1').includes('xyzzy'))
    expect(holding.map(({ name }) => name)).toEqual([])
  })

  it('waits if it moves a belief of a document to user:universal', async () => {
    await using place = await withBoth()
    const line = lineOf(place.text(), 'queue')
    place.edit((text) =>
      text
        .replace(`${line}\n`, '')
        .replace('## project:x', `## user:universal\n\n### Facts\n\n${line}\n\n## project:x`),
    )
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, proposed: 1 })
    expect(await place.memory.get('queue')).toMatchObject({ scopes: ['project:x'] })
  })
})

describe('a removed line of a person', () => {
  async function removed() {
    const place = await withBoth()
    place.edit((text) => withoutLine(text, 'terms').replace('  - aliases: due date\n', ''))
    const synced = await place.sync()
    return { place, id: synced.undecided[0]?.proposal.id ?? '', synced }
  }

  it('waits as a proposal to retire the belief, and is restored in the file', async () => {
    const { place, synced } = await removed()
    await using _ = place

    expect(synced.taken).toEqual({ ...nothingTaken, proposed: 1 })
    expect(await place.beliefs()).toEqual({ queue: 'NATS', terms: '14 days.' })
    expect(await place.memory.proposals()).toMatchObject([
      {
        proposal: { content: '14 days.', resolvedAt: expect.any(String) },
        target: { name: 'terms', resolvedAt: null },
      },
    ])

    await place.memory.addAliases('terms', ['payment'])
    await place.sync()

    expect(lineOf(place.text(), 'terms')).toContain('14 days.')
    expect(await place.memory.proposals()).toHaveLength(1)
  })

  it('is retired if a person accepts that, and undo restores it', async () => {
    const { place, id } = await removed()
    await using _ = place

    const { replaced, event } = await place.memory.accept(id)

    expect(replaced).toMatchObject([{ name: 'terms' }])
    expect(await place.beliefs()).toEqual({ queue: 'NATS' })
    expect(await place.memory.proposals()).toEqual([])
    expect((await place.memory.recall('What are our terms?', { scopes: ['project:x'] })).relevant).toEqual([])
    expect(await place.sync()).toMatchObject({ taken: nothingTaken, written: [], undecided: [] })

    await place.memory.undo(event)

    expect(await place.beliefs()).toEqual({ queue: 'NATS', terms: '14 days.' })
    expect(place.text()).toContain('14 days.')
  })

  it('stays in the file if a person rejects the removal', async () => {
    const { place, id } = await removed()
    await using _ = place

    await place.memory.reject(id)

    expect(lineOf(place.text(), 'terms')).toContain('14 days.')
    expect(await place.sync()).toMatchObject({ taken: nothingTaken, written: [], undecided: [] })
  })

  it('waits for at most 20 lines', async () => {
    await using place = await withBoth()
    const names = Array.from({ length: 25 }, (_, index) => `rack ${index}`)
    for (const name of names) await place.memory.remember({ name, content: `It is ${name}.`, scopes: ['project:x'] })
    await place.sync()
    for (const name of names) {
      place.edit((text) => withoutLine(text, name))
      await place.sync({ settle: false })
    }

    expect(await place.memory.proposals()).toHaveLength(20)
    expect(lineOf(place.text(), 'rack 24')).toContain('It is rack 24.')
  })

  it('waits line by line after a removal of many lines was accepted', async () => {
    await using place = await withBoth()
    const head = place.text().slice(0, place.text().indexOf('## project:x'))
    writeFileSync(place.path(), head)
    expect(await place.sync()).toMatchObject({ outcome: 'held' })

    const { taken } = await place.sync({ accept: true })

    expect(taken).toEqual({ ...nothingTaken, retired: 1, proposed: 1 })
    expect(await place.beliefs()).toEqual({ terms: '14 days.' })
  })
})

describe('a waiting edit', () => {
  it('keeps waiting if the file is deleted and written again, or its records are lost', async () => {
    await using place = await withBoth()
    place.edit((text) => text.replace('14 days.', '30 days.'))
    await place.sync()

    rmSync(place.path())
    await place.sync()
    place.edit((text) => text.replace('14 days.', '60 days.'))
    await place.sync()
    rmSync(place.path('state/mirror'), { recursive: true })
    await place.sync()

    expect(await place.beliefs()).toEqual({ queue: 'NATS', terms: '14 days.' })
    const contents = (await place.memory.proposals()).map(({ proposal }) => proposal.content)
    expect(contents.sort()).toEqual(['30 days.', '60 days.'])
  })

  it('is reported once to each program that uses the memory', async () => {
    await using place = await withBoth()

    place.edit((text) => text.replace('14 days.', '30 days.'))
    await place.memory.recall('terms')
    await place.memory.recall('terms')

    expect(place.problems).toEqual([expect.stringContaining('1 edit of MEMORY.md waits for a person')])
  })

  it('does not exist if the settings declare that only the person writes the file', async () => {
    await using place = mirroredMemory({ mirrorAuthority: 'person' })
    await place.memory.remember({ name: 'terms', content: '14 days.' })

    place.edit((text) => `${text.replace('14 days.', '30 days.')}- **theme**: dark\n`)
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, corrected: 1, added: 1 })
    expect(await place.memory.get('terms')).toMatchObject({
      status: 'active',
      editedByPerson: true,
      provenance: { actor: 'person', origin: 'file' },
    })
  })
})

/** One edit of the file: a line is added, replaced, moved, duplicated or removed. */
const lineOfText = fc.oneof(
  fc.constantFrom(
    '- Always run the installer first.',
    '- **terms**: 99 days.',
    '- **queue**: Redis',
    '- **said by agent**: changed',
    '## user:universal',
    '### Preferences',
    '  - scopes: project:x, user:universal',
    '## New <!-- credence:new -->',
    '<!-- credence:mirror 1 -->',
    '',
  ),
  fc.stringMatching(/^- \*\*[a-z]{3}\*\*: [a-z]{3}$/u),
)
const textEdit = fc.record({
  kind: fc.constantFrom('write', 'replace', 'remove', 'copy', 'move', 'strip', 'word'),
  from: fc.nat(40),
  to: fc.nat(40),
  line: lineOfText,
})

function edited(
  text: string,
  { kind, from, to, line }: { kind: string; from: number; to: number; line: string },
): string {
  const lines = text.split('\n')
  const at = from % lines.length
  const [taken = ''] = kind === 'remove' || kind === 'replace' || kind === 'move' ? lines.splice(at, 1) : [lines[at]]
  if (kind === 'replace' || kind === 'write') lines.splice(at, 0, line)
  if (kind === 'move' || kind === 'copy') lines.splice(to % (lines.length + 1), 0, taken)
  if (kind === 'strip') return text.replace(/ ?<!-- credence:b-.*?-->/gu, '')
  if (kind === 'word') lines[at] = (lines[at] ?? '').replace(/(?<=\*\*: )[^<]*/u, `${line.replace(/\W/gu, '')} `)
  return lines.join('\n')
}

const reaches = (belief: Belief): boolean =>
  belief.scopes.some((scope) => scope === 'user:universal' || isStanding(belief, scope))

describe('for any text in the file', () => {
  it('changes no belief of a person or an agent, and creates no standing or universal belief, until a person accepts', {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(textEdit, { minLength: 1, maxLength: 8 }), fc.boolean(), async (edits, accept) => {
        await using place = await withBoth()
        const { memory } = place
        await memory.remember({ name: 'mine', content: 'Answer briefly.', type: 'preference' })
        const agent = openMemory({ dir: place.dir, author: { actor: 'agent', origin: 'codex' } })
        await agent.remember({ name: 'said by agent', content: 'as it was', scopes: ['project:x'] })
        await agent.close()
        const current = async () => (await memory.list({ current: true, limit: 1_000 })).items
        const protectedOnes = (await current()).filter(({ provenance }) => provenance.actor !== 'document')

        for (const edit of edits) {
          writeFileSync(place.path(), edited(place.text(), edit))
          await place.sync({ accept, settle: false })
        }

        const now = await current()
        const ids = new Set(protectedOnes.map(({ id }) => id))
        expect(now.filter(({ id }) => ids.has(id)).sort(byId)).toEqual([...protectedOnes].sort(byId))
        expect(now.filter((belief) => !ids.has(belief.id) && reaches(belief))).toEqual([])
        const again = await place.sync()
        expect(again).toMatchObject({ written: [], taken: nothingTaken })

        for (const { proposal } of await memory.proposals()) await memory.reject(proposal.id)
        for (const { belief } of await memory.candidates()) await memory.reject(belief.id)
        const shown = place.text()
        // A refused line stays in the file instead of the stored belief.
        if (again.outcome === 'synced' && again.refused.length === 0)
          for (const { content } of await current()) expect(shown).toContain(content)
        expect((await place.sync()).undecided).toEqual([])
      }),
      { numRuns: tries(40) },
    )
  })
})

const byId = (a: Belief, b: Belief): number => (a.id < b.id ? -1 : 1)
