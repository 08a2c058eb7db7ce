import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { MemoryOptions } from '../../src/library.ts'
import { type Memory, memoryFrom } from '../../src/memory/memory.ts'
import { openMemory } from '../../src/open-memory.ts'
import { lineOf, mirroredMemory, nothingTaken, personalMemory, withoutLine } from './mirrored-memory.ts'

describe('a remembered belief', () => {
  it('is in the file when the call returns, by scope and type, in its original words', async () => {
    await using place = personalMemory()
    const { memory } = place

    await memory.remember({
      name: 'launch',
      content: 'Launch is on 4 May 2031.',
      scopes: ['project:ledger'],
      type: 'decision',
    })
    await memory.remember({ name: 'theme', content: 'Dark, "obsidian" please.', type: 'preference', why: 'Eyes.' })
    await memory.remember({ name: 'which queue', content: 'Which queue?', type: 'open_question' })

    expect(place.text().replace(/credence:b-\w+/gu, 'credence:ID')).toBe(`# Memory

The beliefs of a memory, synchronised with its store by Credence. A changed line corrects a belief, a new line adds
one, a deleted line retires one. A new fact of a project applies at once, and so does an edit of a line that came from
a file. Edits of user:universal, of standing instructions, and of lines that you or an agent stated leave the file and
wait: \`credence mirror sync\` in a terminal asks once for all. Text outside of these lists is ignored.

<!-- credence:mirror 3 -->

## user:universal

### Preferences

- **theme**: Dark, "obsidian" please. <!-- credence:ID -->
  - why: Eyes.

### Open questions

- **which queue**: Which queue? <!-- credence:ID -->

## project:ledger

### Decisions

- **launch**: Launch is on 4 May 2031. <!-- credence:ID -->

## New <!-- credence:new -->

<!-- Lines added here, each beginning with a dash, are sorted into the sections above. -->
`)
  })

  it('leaves the introduction of an earlier version unchanged', async () => {
    const introduction =
      '# Memory\n\nThe beliefs of a memory, synchronised with its store by Credence. Edit them as you like: a changed\n' +
      'line corrects a belief.\n'
    await using place = personalMemory()
    await place.memory.remember({ name: 'alpha', content: 'old a' })
    const [, items = ''] = place.text().split(/(?=<!-- credence:mirror)/u)
    writeFileSync(place.path(), `${introduction}\n${items}`)

    await place.memory.correct('alpha', { content: 'new a' })

    expect(place.text().startsWith(`${introduction}\n<!-- credence:mirror `)).toBe(true)
    expect(place.text()).toContain('- **alpha**: new a')
  })

  it('leaves the file if it is superseded, resolved, withdrawn, only proposed, or private to one agent', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'alpha', content: 'old a' })
    await memory.remember({ name: 'q', content: 'open q', type: 'open_question' })
    const { event } = await memory.remember({ name: 'b', content: 'said b' })

    await memory.correct('alpha', { content: 'new a' })
    await memory.resolve('q')
    await memory.undo(event)
    await memory.remember({ name: 'c', content: 'for codex', agent: 'codex' })
    const agent = openMemory({ dir: place.dir, author: { actor: 'agent', origin: 'codex' } })
    await agent.remember({ name: 'alpha', content: 'proposed a' })
    await agent.close()

    expect(place.text()).toContain('new a')
    for (const gone of ['old a', 'open q', 'said b', 'for codex', 'proposed a'])
      expect(place.text()).not.toContain(gone)
  })

  it('leaves no forgotten text in the directory', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'secret', content: 'The word is xyzzy-4711.' })
    place.edit((text) => text.replace('xyzzy-4711', 'xyzzy-4711!'))
    await memory.remember({ name: 'other', content: 'Something else.' })

    await memory.forget('secret', { wholeChain: true })

    const { globSync } = await import('node:fs')
    const holding = globSync(`${place.dir}/**/*`, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('credence.db'))
      .filter((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'latin1').includes('xyzzy'))
    expect(holding.map(({ name }) => name)).toEqual([])
  })

  it('creates no file unless requested', async () => {
    await using place = personalMemory({ mirror: false })

    await place.memory.remember({ name: 'a', content: 'b' })

    expect(place.has('MEMORY.md')).toBe(false)
  })

  it('is shown when the memory is closed, even if nothing was remembered', async () => {
    const place = personalMemory()
    const { dir, path } = place
    await place.memory.close()

    expect(readFileSync(path(), 'utf8')).toContain('# Memory')
    expect(dir).not.toBe('')
    await place.ports.store.close()
    rmSync(dir, { recursive: true })
  })
})

describe('an edit of the file', () => {
  it('of an item is a correction, with the file as its origin, and can be undone', async () => {
    await using place = personalMemory()
    const { memory } = place
    const { belief: old } = await memory.remember({ name: 'terms', content: '14 days.', why: 'Say it.', pinned: true })

    place.edit((text) => text.replace('14 days.', '30 days.'))
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, corrected: 1 })
    const belief = await memory.get('terms')
    expect(belief).toMatchObject({
      content: '30 days.',
      why: 'Say it.',
      pinned: true,
      status: 'active',
      editedByPerson: true,
    })
    expect(belief.provenance).toMatchObject({ actor: 'person', origin: 'file', sourceId: 'MEMORY.md' })
    expect((await memory.get(old.id)).supersededBy).toBe(belief.id)
    expect(lineOf(place.text(), 'terms')).toBe(`- **terms**: 30 days. <!-- credence:${belief.id} pinned -->`)

    await memory.undo()

    expect(await place.beliefs()).toEqual({ terms: '14 days.' })
    expect(lineOf(place.text(), 'terms')).toContain('14 days.')
  })

  it('may change name, why, aliases, type and scope too, and several lines at once', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'editor', content: 'vim', aliases: ['ide'], why: 'Old habit.' })
    await memory.remember({ name: 'queue', content: 'NATS', type: 'decision', scopes: ['project:x'] })

    place.edit((text) =>
      text
        .replace('**editor**: vim', '**text editor**: vim')
        .replace('why: Old habit.', 'why: New habit.\n    And a good one.')
        .replace('aliases: ide', 'aliases: IDE\\, old, code'),
    )
    const queue = lineOf(place.text(), 'queue')
    place.edit((text) =>
      text.replace(`${queue}\n`, '').replace('### Facts\n', `### Preferences\n\n${queue}\n\n### Facts\n`),
    )
    await place.sync()

    const editor = await memory.get('text editor')
    expect(editor).toMatchObject({
      content: 'vim',
      why: 'New habit.\nAnd a good one.',
      aliases: ['IDE, old', 'code', 'editor'],
    })
    expect(await memory.get('queue')).toMatchObject({ scopes: ['user:universal'], type: 'preference', content: 'NATS' })
  })

  it('with a new line in a section stores a belief there, named by its bold part, its key or its own words', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'a', content: 'b', scopes: ['project:x'], type: 'decision' })

    place.edit((text) =>
      text.replace(
        '### Decisions\n\n',
        '### Decisions\n\n- **release day**: Tuesday\n  - why: Never Friday.\n  - aliases: ship day\n- database: PostgreSQL 17\n* The staging server is in Graz.\n',
      ),
    )
    await place.sync()

    expect(await place.beliefs()).toEqual({
      a: 'b',
      'release day': 'Tuesday',
      database: 'PostgreSQL 17',
      'staging server': 'The staging server is in Graz.',
    })
    expect(await memory.get('release day')).toMatchObject({
      type: 'decision',
      scopes: ['project:x'],
      why: 'Never Friday.',
      aliases: ['ship day'],
      status: 'active',
    })
  })

  it('with new lines at the end sorts them in, whether or not the file ends with a newline', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'a', content: 'b' })

    place.edit((text) => `${text}- Rex is my dog.\n`)
    await place.sync()
    place.edit((text) => text.slice(0, text.indexOf('\n## New')).trimEnd())
    await place.sync()
    place.edit((text) => `${text.trimEnd()}- **c**: glued`)
    await place.sync()

    expect(await place.beliefs()).toEqual({ a: 'b', Rex: 'Rex is my dog.', c: 'glued' })
  })

  it('with a removed line retires the belief, and undo restores it', async () => {
    await using place = personalMemory()
    const { memory } = place
    for (const name of ['a', 'b', 'c']) await memory.remember({ name, content: `what ${name} is` })

    place.edit((text) => withoutLine(text, 'c'))
    const { taken } = await place.sync()

    expect(taken.retired).toBe(1)
    expect(await place.beliefs()).toEqual({ a: 'what a is', b: 'what b is' })
    expect((await memory.events({ limit: 1 }))[0]).toMatchObject({ kind: 'retire', actor: 'person', origin: 'file' })

    await memory.undo()

    expect(Object.keys(await place.beliefs()).sort()).toEqual(['a', 'b', 'c'])
    expect(place.text()).toContain('what c is')
  })

  it('is imported before the next recall, without a request', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'terms', content: '14 days.' })

    place.edit((text) => text.replace('14 days.', '30 days.'))
    const { relevant } = await place.memory.recall('What are our terms?')

    expect(relevant.map(({ belief }) => belief.content)).toEqual(['30 days.'])
  })

  it('with a known statement changes nothing', async () => {
    await using place = personalMemory()
    const { belief } = await place.memory.remember({ name: 'terms', content: '14 days.' })

    place.edit((text) => `${text}- **terms**: 14 days\n`)
    await place.sync()

    expect(await place.memory.list()).toMatchObject({ total: 1, items: [{ id: belief.id, version: 1 }] })
    expect(place.text().match(/14 days/gu)).toHaveLength(1)
  })

  it('by a program that drops every comment is still an edit of the same items', async () => {
    await using place = personalMemory()
    for (const name of ['a', 'b', 'c', 'd']) await place.memory.remember({ name, content: `what ${name} is` })
    const before = await place.memory.list({ limit: 10 })

    place.edit((text) => text.replace(/ ?<!--.*?-->/gu, '').replace('what b is', 'what b became'))
    const { taken, outcome } = await place.sync()

    expect({ outcome, taken }).toEqual({
      outcome: 'synced',
      taken: { ...nothingTaken, corrected: 1 },
    })
    expect((await place.beliefs()).b).toBe('what b became')
    const kept = (await place.memory.list({ limit: 10, current: true })).items.filter(({ name }) => name !== 'b')
    expect(kept.map(({ id }) => id).sort()).toEqual(
      before.items
        .filter(({ name }) => name !== 'b')
        .map(({ id }) => id)
        .sort(),
    )
  })

  it('with an invalid line leaves the line, reports the reason, and imports the rest', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'a', content: 'b' })
    const long = 'x'.repeat(20_001)

    place.edit((text) => `${text}- **long**: ${long}\n- **fine**: short\n`)
    const { refused } = await place.sync()

    expect(refused).toMatchObject([{ file: 'MEMORY.md', reason: expect.stringContaining('20001 characters') }])
    expect(await place.beliefs()).toEqual({ a: 'b', fine: 'short' })
    expect(place.text()).toContain(long)
    expect((await place.sync()).written).toEqual([])
  })

  it("can be confirmed by a person, and only then becomes the person's", async () => {
    await using place = mirroredMemory()
    const notes = openMemory({ dir: place.dir, mirror: true, author: { actor: 'document', origin: 'notes.md' } })
    await notes.remember({ name: 'terms', content: '14 days.', scopes: ['project:x'] })
    await notes.close()
    place.edit((text) => text.replace('14 days.', '30 days.'))
    await place.sync()
    expect((await place.status()).unconfirmed).toMatchObject([{ name: 'terms', content: '30 days.' }])

    await place.memory.confirm('terms')

    expect(await place.memory.get('terms')).toMatchObject({ status: 'active', editedByPerson: true })
    expect((await place.status()).unconfirmed).toEqual([])
    expect(lineOf(place.text(), 'terms')).not.toContain('unconfirmed')
    const agent = openMemory({ dir: place.dir, author: { actor: 'agent', origin: 'codex' } })
    await expect(agent.confirm('terms')).rejects.toThrow('Only a person')
    expect(await agent.correct('terms', { content: '60 days.' })).toMatchObject({ outcome: 'proposed' })
    await agent.close()
  })
})

describe('a saved old copy', () => {
  it('deletes nothing that its editor never saw', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'a', content: 'what a is' })
    const copy = place.text()
    await memory.remember({ name: 'b', content: 'what b is' })
    await memory.correct('a', { content: 'what a became' })

    writeFileSync(place.path(), copy.replace('## New', 'A word of mine.\n\n## New'))
    await place.sync()

    expect(await place.beliefs()).toEqual({ a: 'what a became', b: 'what b is' })
    expect(place.text()).toContain('what b is')
    expect(place.text()).toContain('what a became')
    expect(place.text()).not.toContain('what a is')
    expect(place.text()).toContain('A word of mine.\n')
  })

  it('may be edited, and only the edit counts', async () => {
    await using place = personalMemory()
    const { memory } = place
    for (const name of ['a', 'b', 'c', 'd']) await memory.remember({ name, content: `what ${name} is` })
    const copy = place.text()
    await memory.remember({ name: 'e', content: 'what e is' })

    writeFileSync(place.path(), withoutLine(copy, 'b').replace('what c is', 'what c became'))
    await place.sync()

    expect(await place.beliefs()).toEqual({ a: 'what a is', c: 'what c became', d: 'what d is', e: 'what e is' })
  })

  it('older than any stored version deletes nothing either, and restores nothing', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'a', content: 'what a is' })
    await memory.remember({ name: 'gone', content: 'what is forgotten' })
    const copy = place.text()
    await memory.forget('gone')
    for (let index = 0; index < 25; index += 1)
      await memory.remember({ name: `n${index}`, content: `what ${index} is` })

    writeFileSync(place.path(), copy)
    const { taken } = await place.sync()

    expect(taken).toEqual(nothingTaken)
    expect(Object.keys(await place.beliefs())).toHaveLength(26)
    expect(place.text()).not.toContain('what is forgotten')
    expect(place.text()).toContain('what 24 is')
  })
})

describe('a change in both places', () => {
  it("to the same words keeps both: store and file have the store's text, and the edit waits as a proposal", async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'theme', content: 'dark' })
    await memory.remember({ name: 'other', content: 'stays' })
    const copy = place.text()
    await memory.correct('theme', { content: 'solarized' })

    writeFileSync(place.path(), copy.replace(': dark', ': light'))
    const { taken } = await place.sync()

    expect(taken).toMatchObject({ conflicts: 1, corrected: 0 })
    expect((await place.beliefs()).theme).toBe('solarized')
    const [waiting] = await memory.proposals()
    expect(waiting).toMatchObject({ proposal: { content: 'light' }, target: { content: 'solarized' } })
    expect(place.text()).toContain('**theme**: solarized')
    expect(place.text()).not.toMatch(/<<<<<<<|>>>>>>>|light/u)
    expect(await place.status()).toMatchObject({ isInSync: false, conflicts: [], undecided: { length: 1 } })
    expect(await place.sync()).toMatchObject({ written: [], taken: nothingTaken })

    await memory.accept(waiting?.proposal.id ?? '')

    expect((await place.beliefs()).theme).toBe('light')
    expect(place.text()).toContain(': light')
    expect((await place.status()).isInSync).toBe(true)
  })

  it('keeps the text of the store if the edit is rejected', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'theme', content: 'dark' })
    const copy = place.text()
    await place.memory.correct('theme', { content: 'solarized' })
    writeFileSync(place.path(), copy.replace(': dark', ': light'))
    await place.sync()
    const [waiting] = await place.memory.proposals()

    await place.memory.reject(waiting?.proposal.id ?? '')
    const { taken } = await place.sync()

    expect(taken).toEqual(nothingTaken)
    expect(place.text()).toContain('**theme**: solarized')
    expect(place.text()).not.toContain('light')
    expect((await place.status()).isInSync).toBe(true)
  })

  describe('while the store also adds a belief, so that the file is written', () => {
    const edited = async (options: Partial<MemoryOptions> = {}) => {
      const place = mirroredMemory(options)
      const scopes = ['project:ledger']
      await place.memory.remember({ name: 'above', content: 'Stays.', scopes, why: 'Tested.' })
      const redis = { name: 'Redis', content: 'On port 6380.', why: 'Sessions.', aliases: ['cache'], scopes }
      await place.memory.remember(redis)
      await place.sync()
      place.edit((text) => text.replace('6380', '6390'))
      // Another program, which does not sync the file.
      const author = { actor: 'person', origin: 'elsewhere' } as const
      const elsewhere = memoryFrom(place.ports, { user: 'local', scopes, agent: null, author })
      await elsewhere.correct('Redis', { content: 'On port 6400.' })
      await elsewhere.remember({ name: 'below', content: 'New.', scopes })
      return { place, synced: await place.sync() }
    }
    const proposals = async (memory: Memory) =>
      (await memory.proposals()).map(({ proposal: { content, why, aliases, resolvedAt }, target }) => {
        return { content, why, aliases, isRemoval: resolvedAt !== null, target: target?.content }
      })
    const proposed = { why: 'Sessions.', aliases: ['cache'], isRemoval: false, target: 'On port 6400.' }

    it('proposes only the edit', async () => {
      const { place, synced } = await edited()
      await using _ = place

      expect(synced.taken).toEqual({ ...nothingTaken, conflicts: 1 })
      expect(place.text()).toMatch(/On port 6400\. <!-- \S+ -->\n {2}- why: Sessions\.\n {2}- aliases: cache\n/u)
      expect(place.text()).toContain('**below**')
      expect(await proposals(place.memory)).toEqual([{ content: 'On port 6390.', ...proposed }])
      expect(await place.sync()).toMatchObject({ written: [], taken: nothingTaken })
    })
  })

  it('to different parts of an item merges both', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'theme', content: 'dark', why: 'Eyes.' })
    const copy = place.text()
    await memory.addAliases('theme', ['colours'])

    writeFileSync(place.path(), copy.replace(': dark', ': light'))
    const { taken } = await place.sync()

    expect(taken).toMatchObject({ corrected: 1, conflicts: 0 })
    expect(await memory.get('theme')).toMatchObject({ content: 'light', why: 'Eyes.', aliases: ['colours'] })
  })

  it('keeps the belief if the file removes it and the store has changed it', async () => {
    await using place = personalMemory()
    const { memory } = place
    for (const name of ['a', 'b', 'c']) await memory.remember({ name, content: `what ${name} is` })
    const copy = place.text()
    await memory.setWhy('b', 'It matters.')

    writeFileSync(place.path(), withoutLine(copy, 'b'))
    const { taken } = await place.sync()

    expect(taken).toMatchObject({ retired: 0, conflicts: 1 })
    expect((await place.beliefs()).b).toBe('what b is')
    expect(place.text()).toContain('It matters.')
  })
})
