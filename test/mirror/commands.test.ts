import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createSandbox, endOf } from '../cli/sandbox.ts'

function withMemory() {
  const place = createSandbox()
  const file = join(place.work, 'memory', 'MEMORY.md')
  return {
    ...place,
    file,
    text: () => readFileSync(file, 'utf8'),
    edit: (change: (text: string) => string) => writeFileSync(file, change(readFileSync(file, 'utf8'))),
    init: () => place.run('init', '--dir', 'memory'),
    /** Gives every edit of the file the authority of the person. */
    trustFile: () => writeFileSync(join(place.work, 'memory', 'config.json'), '{"mirrorAuthority": "person"}'),
    [Symbol.dispose]: () => place[Symbol.dispose](),
  }
}

describe('credence init', () => {
  it('creates the file, and leaves an existing one unchanged', async () => {
    using place = withMemory()
    mkdirSync(join(place.work, 'memory'))
    writeFileSync(place.file, '# Mine\n\n- keep me\n')

    const { exitCode, stdout } = await place.init()
    await place.run('trust')
    await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms')

    expect(exitCode).toBe(0)
    expect(stdout).toContain(place.file)
    expect(place.text().startsWith('# Mine\n\n- keep me\n\n<!-- credence:mirror ')).toBe(true)
    expect(place.text()).toContain('- **payment terms**: Invoices are due after 14 days. <!-- credence:b-')
  })
})

describe('credence mirror sync', () => {
  it('imports edits, reports them, and prints one document', async () => {
    using place = withMemory()
    await place.init()
    place.trustFile()
    await place.run('remember', 'Invoices are due after 14 days.', '--name', 'payment terms')
    place.edit((text) => `${text.replace('14 days', '30 days')}- **theme**: dark\n`)

    const { exitCode, stdout } = await place.run('mirror', 'sync')

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `In sync: imported 1 corrected, 1 added; wrote MEMORY.md.\n  ${place.file}\n`,
    })
    expect(await place.json('mirror', 'sync')).toMatchObject({ outcome: 'synced', written: [], held: null })
    expect((await place.json('show', 'payment terms')).belief).toMatchObject({
      content: 'Invoices are due after 30 days.',
    })
  })

  it('creates a mirror for a memory without one, and requires a memory', async () => {
    using place = withMemory()
    expect(await place.run('mirror', 'sync')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('credence init'),
    })
    await place.run('remember', 'a b c', '--name', 'letters', '--dir', 'memory')
    expect(existsSync(place.file)).toBe(false)

    await place.run('mirror', 'sync')

    expect(place.text()).toContain('a b c')
  })

  it('exits with 5 if the file is held, and --accept allows the removal', async () => {
    using place = withMemory()
    await place.init()
    place.trustFile()
    for (const name of ['one', 'two', 'three']) await place.run('remember', `what ${name} is`, '--name', name)
    place.edit((text) =>
      text
        .split('\n')
        .filter((line) => !/\*\*(?:one|two)\*\*/u.test(line))
        .join('\n'),
    )

    const held = await place.run('mirror', 'sync')
    const status = await place.run('mirror', 'status')
    const doctor = await place.run('doctor')
    const remembered = await place.run('remember', 'what four is', '--name', 'four')

    expect(held).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('2 of 3 items are gone') })
    expect(status).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('MEMORY.md is held') })
    expect(doctor).toMatchObject({ exitCode: 5, stdout: expect.stringMatching(/FAIL +mirror +MEMORY\.md is held/u) })
    expect(doctor.stderr).not.toContain('set-aside')
    expect(remembered).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('was not synchronised') })

    expect(await place.run('mirror', 'sync', '--accept')).toMatchObject({ exitCode: 0 })
    expect((await place.json('beliefs')).items.map(({ name }: { name: string }) => name).sort()).toEqual([
      'four',
      'three',
    ])
    expect(await place.run('doctor')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/ok +mirror +2 items/u),
    })
  })

  it('shows one user’s memory, and refuses another’s', async () => {
    using place = withMemory()
    await place.init()

    const other = await place.run('mirror', 'sync', '--user', 'ben')
    await place.run('remember', 'what ben says', '--name', 'secret of ben', '--user', 'ben')

    expect(other).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('shows the memory of "local"') })
    expect(place.text()).not.toContain('ben')
  })
})

describe('an edit that needs a person', () => {
  async function edited() {
    const place = withMemory()
    await place.init()
    for (const name of ['one', 'two', 'three'])
      await place.run('remember', `what ${name} is`, '--name', name, '--scope', 'project:x')
    place.edit(
      (text) =>
        `${text.replace('what one is', 'what one became').replace(/.*\*\*two\*\*.*\n/u, '')}- Answer in verse.\n`,
    )
    return place
  }
  const contents = async (place: Awaited<ReturnType<typeof edited>>): Promise<string[]> =>
    (await place.json('beliefs')).items.map(({ content }: { content: string }) => content).sort()

  it('waits without a terminal: sync lists waiting edits and the command that decides, without a question', async () => {
    using place = await edited()

    const { exitCode, stdout, stderr } = await place.run('mirror', 'sync')
    const status = await place.run('mirror', 'status')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^Waiting for you: no edits to import; /u)
    for (const text of [stdout, status.stdout]) expect(text).toContain('3 edits wait for your decision.')
    for (const text of [stderr, status.stderr])
      expect(text).toContain('`credence review` shows and decides the waiting edits of "')
    expect(await place.json('mirror', 'sync')).toMatchObject({ written: [], undecided: { length: 3 } })
    expect((await contents(place)).sort()).toEqual(['what one is', 'what three is', 'what two is'])
    expect(await place.run('doctor')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('3 edits wait') })
  })

  it('is shown with the aliases that it would have', async () => {
    using place = withMemory()
    await place.init()
    await place.run('remember', 'The garage is on Elm Street.', '--name', 'garage', '--scope', 'project:x')
    place.edit((text) => text.replace(/(- \*\*garage.*\n)/u, '$1- **fleet van**: Green.\n  - aliases: code, error\n'))

    await place.run('mirror', 'sync')
    const listed = await place.run('review')

    expect(listed.stdout).toContain('Aliases: code, error')
  })

  it('is decided with credence review, which marks removals', async () => {
    using place = await edited()
    await place.run('mirror', 'sync')

    const listed = await place.run('review')
    const { items } = await place.json('review')
    const idOf = (name: string): string =>
      items.find(({ belief }: { belief: { name: string } }) => belief.name === name).belief.id
    const retired = await place.run('review', 'accept', idOf('two'))
    await place.run('review', 'reject', idOf('one'))

    expect(listed.stdout).toMatch(/^Retire "two".*\n +Now: what two is\n.*\n +The document file contradicts/mu)
    expect(listed.stdout).toContain('Written in MEMORY.md')
    expect(retired.stdout).toContain('Retired "two": it is no longer recalled.')
    expect(await contents(place)).toEqual(['what one is', 'what three is'])
    expect(place.text()).toContain('what one is')
    expect(place.text()).not.toContain('what two is')
  })
})

describe('credence mirror status', () => {
  it('lists what is unconfirmed until a person confirms it', async () => {
    using place = withMemory()
    await place.init()
    appendFileSync(place.file, '\n## project:x\n\n- **theme**: dark\n')
    expect((await place.json('mirror', 'status')).editedFiles).toEqual(['MEMORY.md'])
    await place.run('mirror', 'sync')
    const before = await place.run('mirror', 'status')

    const confirmed = await place.run('confirm', 'theme')

    expect(before.stdout).toMatch(/unconfirmed:\n.*\nb-\w+ {2}theme {2}dark/u)
    expect(confirmed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Confirmed: "theme"') })
    expect(await place.json('mirror', 'status')).toMatchObject({ isInSync: true, unconfirmed: [] })
    expect(await place.run('confirm', 'theme', '--as', 'agent:codex')).toMatchObject({ exitCode: 3 })
  })
})

describe('credence mirror watch', () => {
  it('imports every save, and reports when the file is held and when it is accepted again, until it is interrupted', {
    timeout: 60_000,
  }, async () => {
    using place = withMemory()
    await place.init()
    place.trustFile()
    const child = place.start(['mirror', 'watch'])
    const ended = endOf(child)
    let said = ''
    child.stdout.on('data', (chunk: string) => {
      said += chunk
    })
    const until = async (isSo: () => boolean): Promise<void> => {
      for (let attempt = 0; !isSo(); attempt += 1) {
        if (attempt > 400) throw new Error('It never came to that.')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }

    appendFileSync(place.file, '- **theme**: dark\n')
    await until(() => said.includes('imported 1 added'))
    writeFileSync(place.file, '')
    await until(() => said.includes('Held'))
    rmSync(place.file)
    await until(() => said.includes('no edits to import'))
    expect(place.text()).toContain('- **theme**: dark')
    child.kill('SIGINT')

    const { exitCode, stdout, stderr } = await ended
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout.replace(/^\d\d:\d\d:\d\d {2}/gmu, '').split('\n')).toEqual([
      `Watching ${place.file}. Ctrl-C ends it.`,
      'In sync: imported 1 added; wrote MEMORY.md.',
      'Held: Nothing was changed.',
      '          MEMORY.md is held, because it is empty. Put the lines back, or accept the removal: `credence mirror sync --accept`',
      'In sync: no edits to import; wrote MEMORY.md.',
      '',
    ])
  })
})

describe('the status of a mirror', () => {
  it('explains how to fix a held file, instead of suggesting a sync', async () => {
    using place = withMemory()
    await place.init()
    for (const name of ['a', 'b', 'c']) await place.run('remember', `what ${name} is`, '--name', name)
    writeFileSync(place.file, '')
    await place.run('mirror', 'sync')

    const { stdout } = await place.run('mirror', 'status')

    expect(stdout).toMatch(
      /^MEMORY\.md is held, because it is empty\. Put the lines back, or accept the removal: `credence/mu,
    )
  })

  it('fits a terminal', async () => {
    using place = withMemory()
    await place.init()
    await place.run('remember', 'light', '--name', 'theme')
    const before = place.text()
    await place.run('correct', 'theme', 'dark')
    writeFileSync(place.file, `${before.replace('light', 'solarized')}- my PIN is 4821\n`)

    const synced = await place.runWith({ columns: 80 }, 'mirror', 'sync')
    const status = await place.runWith({ columns: 80 }, 'mirror', 'status')

    expect(synced.stdout).toContain('1 conflict;')
    for (const { stdout } of [synced, status]) {
      const lines = stripVTControlCharacters(stdout).split('\n')
      expect(lines.filter((line) => line.length > 80 && !line.includes(place.file))).toEqual([])
    }
    expect(synced.stdout).toContain('\u001b[33mWaiting for you\u001b[39m')
  })
})

describe('credence import --markdown', () => {
  const document = `---
title: settings are not statements
---
# Project Ledger

Ledger is an invoicing tool.

## Style

- **Tabs**: never, two spaces
- Prefer \`const\` over \`let\`.
- payment terms: 14 days
- Use ES modules, not CommonJS

## Deployment

We deploy to Fly.io on Tuesdays.

\`\`\`sh
fly deploy
\`\`\`

| Service | Owner |
|---|---|
| billing | Anna |

<!-- nothing to see -->
- [ ] Which backup tool?
`

  it('imports list items, paragraphs, tables and code, and nothing twice', async () => {
    using place = withMemory()
    writeFileSync(join(place.work, 'CLAUDE.md'), document)
    const argv = ['import', '--markdown', join(place.work, 'CLAUDE.md'), '--dir', 'memory', '--scope', 'project:ledger']

    const first = await place.run(...argv, '--json')
    const second = JSON.parse((await place.run(...argv, '--json')).stdout)

    expect(JSON.parse(first.stdout)).toMatchObject({ added: 8, warnings: [] })
    expect(second).toMatchObject({ added: 0, unchanged: 8, corrected: 0, reinforced: 0, proposed: 0 })
    const { items } = await place.json('beliefs', '--dir', 'memory')
    const byName = Object.fromEntries(items.map(({ name, content }: Record<string, string>) => [name, content]))
    expect(byName).toMatchObject({
      'Project Ledger': 'Ledger is an invoicing tool.',
      Tabs: 'never, two spaces',
      'payment terms': '14 days',
      billing: 'Anna',
    })
    expect(Object.values(byName)).toContain('We deploy to Fly.io on Tuesdays.\n\n```sh\nfly deploy\n```')
    expect(JSON.stringify(items)).not.toMatch(/settings|nothing to see/u)
    expect(
      items.every(({ provenance }: { provenance: object }) => JSON.stringify(provenance).includes('CLAUDE.md')),
    ).toBe(true)
  })

  it('recalls the imported statements', async () => {
    using place = withMemory()
    writeFileSync(join(place.work, 'notes.md'), document)
    await place.run('import', '--markdown', '--trusted', join(place.work, 'notes.md'), '--dir', 'memory')

    const { relevant } = await place.json('recall', 'what are our payment terms?', '--dir', 'memory')

    expect(relevant.map(({ belief }: { belief: { content: string } }) => belief.content)).toEqual(['14 days'])
  })

  it('reads the file of another Credence memory, with scopes, types and reasons', async () => {
    using place = withMemory()
    await place.init()
    await place.run(
      'remember',
      'Launch is on 4 May.',
      '--name',
      'launch',
      '--type',
      'decision',
      '--scope',
      'project:x',
      '--why',
      'Say it.',
      '--alias',
      'launch day',
    )

    const imported = await place.json('import', '--markdown', join(place.work, 'memory/MEMORY.md'), '--dir', 'other')

    expect(imported).toMatchObject({ added: 1 })
    const { belief } = await place.json('show', 'launch', '--dir', 'other')
    expect(belief).toMatchObject({
      type: 'decision',
      scopes: ['project:x'],
      why: 'Say it.',
      aliases: ['launch day'],
      content: 'Launch is on 4 May.',
    })
  })

  it('reports what it left out, and refuses a file without statements', async () => {
    using place = withMemory()
    writeFileSync(join(place.work, 'long.md'), `- fine\n- ${'x'.repeat(20_001)}\n`)
    writeFileSync(join(place.work, 'none.md'), '# Title\n\n---\n')

    const long = await place.run('import', '--markdown', join(place.work, 'long.md'), '--dir', 'memory')
    const none = await place.run('import', '--markdown', join(place.work, 'none.md'), '--dir', 'memory')

    expect(long).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('long.md, line 2: left out.') })
    expect(none).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('contains no statements') })
  })
})
