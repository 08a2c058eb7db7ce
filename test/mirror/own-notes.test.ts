import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'

async function mirrored(before: string | null = null) {
  const place = createSandbox()
  const file = join(place.work, 'memory', 'MEMORY.md')
  mkdirSync(join(place.work, 'memory'))
  writeFileSync(join(place.work, 'memory', 'config.json'), '{"mirrorAuthority": "person"}')
  if (before !== null) writeFileSync(file, before)
  const made = await place.run('init', '--dir', 'memory')
  // The folder had contents before `init`, so the memory in it must be trusted first.
  await place.run('trust')
  return {
    ...place,
    file,
    made,
    text: () => readFileSync(file, 'utf8'),
    [Symbol.dispose]: () => place[Symbol.dispose](),
  }
}

describe("a file with the person's own notes", () => {
  it('is reported as unchanged, with the command that imports it', async () => {
    using place = await mirrored('# Notes\n\n- one\n- two\n  - three\n\n```\n- code\n```\n\n---\n')

    const status = await place.run('mirror', 'status')

    for (const { stdout } of [place.made, status])
      expect(stdout).toContain(
        `3 list items outside the managed sections are ignored; to import them: credence import --markdown ${place.file}`,
      )
    expect(await place.json('mirror', 'status')).toMatchObject({ leftAlone: 3, items: 0 })
  })

  it('is not mentioned if there are none', async () => {
    using place = await mirrored()

    expect(place.made.stdout).not.toContain('outside the managed')
    expect((await place.run('mirror', 'status')).stdout).not.toContain('outside the managed')
  })
})

describe('an edited file', () => {
  it('is named, and imported lines are counted by kind', async () => {
    using place = await mirrored()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await place.run('remember', `what ${name} is`, '--name', name)
    const edited = place
      .text()
      .replace('what a is', 'what a became')
      .replace(/.*\*\*b\*\*.*\n/u, '')
    writeFileSync(place.file, `${edited}- **f**: what f is\n- **c**: what c became\n- **d**: what d is\n`)

    const { stdout } = await place.run('mirror', 'status')

    expect(stdout).toContain('MEMORY.md was changed since the last sync')
    expect((await place.run('mirror', 'sync')).stdout).toContain('imported 2 corrected, 1 added, 1 retired')
  })

  it('is counted', async () => {
    using place = await mirrored()
    await place.run('remember', 'what a is', '--name', 'a')

    expect((await place.run('mirror', 'status')).stdout).toMatch(/items +1$/mu)
  })
})

describe('a conflict', () => {
  async function torn() {
    const place = await mirrored()
    await place.run('remember', 'dark', '--name', 'theme')
    await place.run('remember', 'stays', '--name', 'other')
    const copy = place.text()
    await place.run('correct', 'theme', 'solarized')
    writeFileSync(place.file, copy.replace(': dark', ': light'))
    return place
  }

  it.each(['accept', 'reject'])('is listed by sync and status until it is decided with %s', async (way) => {
    using place = await torn()

    const sync = await place.run('mirror', 'sync')
    const again = await place.run('mirror', 'sync')
    const status = await place.run('mirror', 'status')

    const { undecided } = JSON.parse((await place.run('mirror', 'status', '--json')).stdout)
    const { id } = undecided[0].proposal
    expect(sync.stdout).toContain('1 conflict;')
    for (const { exitCode, stdout, stderr } of [sync, again, status]) {
      expect(exitCode).toBe(0)
      expect(stdout).not.toContain('In sync')
      expect(stdout).toContain('1 edit waits for your decision.')
      expect(stderr).toContain('`credence review` shows and decides the waiting edits of "theme".')
    }

    const decided = await place.run('review', way, id)

    expect(decided).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await place.run('mirror', 'sync')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('In sync'),
    })
    expect(await place.run('mirror', 'status')).toMatchObject({ exitCode: 0 })
    expect(place.text()).toContain(way === 'accept' ? ': light' : ': solarized')
  })
})

describe('a line with a secret', () => {
  it.each(['My PIN is 1234', '**card**: 4111 1111 1111 1111', 'PIN: 4711'])(
    'as "%s" is left in the file and not imported',
    async (line) => {
      using place = await mirrored()
      await place.run('remember', 'what a is', '--name', 'a')
      writeFileSync(place.file, `${place.text()}- ${line}\n- **fine**: short\n`)

      const { stdout } = await place.run('mirror', 'sync')

      expect(stdout).toContain('imported 1 added')
      expect(stdout).toMatch(/MEMORY\.md, line \d+, was not imported: The text contains .*, so it was not stored\./u)
      const [, number] = /line (\d+)/u.exec(stdout) ?? []
      expect(place.text().split('\n')[Number(number) - 1]).toBe(`- ${line}`)
      expect(stdout).not.toMatch(/1234|4111|4711/u)
      expect((await place.json('beliefs')).items.map(({ name }: { name: string }) => name).sort()).toEqual([
        'a',
        'fine',
      ])
      expect(place.text()).toContain(`- ${line}\n`)
    },
  )
})

describe('a task', () => {
  it('is imported without its checkbox, from the file and from other Markdown', async () => {
    using place = await mirrored()
    writeFileSync(place.file, `${place.text()}- [ ] buy stamps\n`)
    writeFileSync(join(place.work, 'tasks.md'), '- [x] water the plants\n- [ ] **call**: the plumber\n')

    await place.run('mirror', 'sync')
    await place.run('import', '--markdown', '--trusted', join(place.work, 'tasks.md'))

    const { items } = await place.json('beliefs')
    expect(items.map(({ content }: { content: string }) => content).sort()).toEqual([
      'buy stamps',
      'the plumber',
      'water the plants',
    ])
  })
})
