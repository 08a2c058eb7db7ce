import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MemoryError } from '../src/errors.ts'
import { openMemory, shadowRecall } from '../src/library.ts'
import { bin, createSandbox } from './cli/sandbox.ts'
import { pathsIn } from './paths-in-docs.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const pages = [...globSync('*.md'), ...globSync('docs/**/*.md'), ...globSync('packs/*/README.md')].sort()
const read = (file: string): string => readFileSync(file, 'utf8')

/** Pages without steps to follow, and guides whose example needs another running program. */
const withoutExamples = [
  'GLOSSARY',
  'api',
  'comparison',
  'dependencies',
  'frameworks',
  'index',
  'style',
  'third-party',
  'performance',
  'red-team',
  'reliability',
  'scale',
  'http',
  'postgres',
  'teams',
]
const withExamples = globSync('docs/*.md').filter((page) => !withoutExamples.includes(basename(page, '.md')))

/** The commands of the blocks marked `console`, each with the lines below it. `> ` continues a command, as in a shell. */
const examplesIn = (page: string): readonly { readonly command: string; readonly output: string }[] =>
  [...page.matchAll(/```console\n(.*?)```/gsu)].flatMap(([, block = '']) =>
    block.split(/^\$ /mu).flatMap((step) => {
      const [first = '', ...below] = step.trimEnd().split('\n')
      const more = below.findIndex((line) => !line.startsWith('> '))
      const end = more === -1 ? below.length : more
      const command = [first, ...below.slice(0, end).map((line) => line.slice(2))].join('\n')
      return command === '' ? [] : [{ command, output: below.slice(end).join('\n') }]
    }),
  )

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/gu, '\\$&')

/** Whether a text was printed. "…" matches any text within a line; alone on a line, it matches any number of lines. */
function isPrinted(printed: string, text: string): boolean {
  const pattern = text
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*')}\\n`))
  return new RegExp(`^${pattern.join('')}$`, 'u').test(`${printed}\n`)
}

/** A shell in an empty working directory with an empty home, and with `credence` on its PATH. */
function shellWithCredence() {
  const place = createSandbox()
  const programs = join(place.path, 'bin')
  mkdirSync(programs)
  symlinkSync(process.execPath, join(programs, 'node'))
  writeFileSync(join(programs, 'credence'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, { mode: 0o755 })
  const env = { HOME: place.home, PATH: `${programs}${delimiter}${process.env.PATH}` }
  return {
    run: (script: string) =>
      spawnSync('sh', ['-c', script], { cwd: place.work, env, encoding: 'utf8', timeout: 100_000 }),
    [Symbol.dispose]: () => place[Symbol.dispose](),
  }
}

describe('the documents', () => {
  it('have a README of fewer than 120 lines', () => {
    expect(read('README.md').split('\n').length).toBeLessThan(120)
  })

  it.each(pages)('%s mentions only existing files and folders', (page) => {
    const missing = pathsIn(read(page)).filter((path) => !existsSync(path) && !existsSync(join(dirname(page), path)))

    expect(missing).toEqual([])
  })

  it('have an index of decisions, whose files are named after their titles', () => {
    const decisions = globSync('docs/decisions/0*.md').sort()
    const lines = decisions.map((path) => {
      const [title = '', , state = ''] = read(path).split('\n')
      const [, number = '', name = ''] = /^# (\d+)\. (.+)$/u.exec(title) ?? []
      const slug = name
        .toLowerCase()
        .replaceAll("'", '')
        .replaceAll(/[^a-z\d]+/gu, '-')
      expect(basename(path)).toBe(`${number.padStart(3, '0')}-${slug}.md`)
      const [, date, status = ''] = /^Date: (\d{4}-\d\d-\d\d)\. Status: ([^.;]+)/u.exec(state) ?? []
      return `| [${number}. ${name}](${basename(path)}) | ${date} | ${status.replaceAll(/[[\]]|\(.*/gu, '')} |`
    })
    expect(
      read('docs/decisions/README.md')
        .split('\n')
        .filter((line) => line.startsWith('| [')),
    ).toEqual(lines)
  })

  it('list every export of the library', () => {
    const source = read('src/index.ts')
    const exported = [...source.matchAll(/export (?:type )?\{([^}]+)\}/gu)].flatMap(([, names]) =>
      (names as string).split(',').map((name) => name.trim().replace(/^type /u, '')),
    )
    const page = read('docs/api.md')

    expect(exported.length).toBeGreaterThan(5)
    const isListed = (name: string): boolean => page.includes(`\`${name}\``) || page.includes(`${name}(`)
    expect(exported.filter((name) => name !== '' && !isListed(name))).toEqual([])
  })

  it('list every option of every function and method of the library', async () => {
    using directory = temporaryDirectory()
    const memory = openMemory({ dir: join(directory.path, 'memory') })
    const untyped = memory as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>
    const functions = { ...untyped, openMemory, shadowRecall } as Record<string, (...args: never[]) => unknown>
    const sections = read('docs/api.md').split(/^##+ /mu)
    const sectionOf = (name: string): string =>
      sections.find((text) => text.split('\n')[0]?.includes(`\`${name}(`)) ?? ''
    /** The arguments before the options, for functions that accept none of the lists below. */
    const before = (name: string): readonly unknown[] => [...({ shadowRecall: [memory], hear: [[]] }[name] ?? [])]
    const optionsOf = async (name: string): Promise<readonly string[]> => {
      const found: string[] = []
      for (const args of [before(name), ['a'], ['a', 'b'], ['a', {}], ['a', []], ['a', undefined], [{}]]) {
        // The option is unknown, so the error lists the known ones.
        const hint = await Promise.resolve()
          .then(() =>
            functions[name]?.(...(args as never[]), {
              '?': 1,
              dir: '.',
              name: 'a',
              content: 'a',
              text: 'a',
              wish: 'absent',
            } as never),
          )
          .then(
            () => '',
            (error: MemoryError) => error.hint ?? '',
          )
        found.push(...(/^The options are (.*)\.$/u.exec(hint)?.[1]?.split(', ') ?? []))
      }
      return [...new Set(found)]
    }

    let options = 0
    for (const name of Object.keys(functions)) {
      const section = sectionOf(name)
      expect(section, name).not.toBe('')
      const names = await optionsOf(name)
      options += names.length
      expect(
        names.filter((option) => !section.includes(`\`${option}\``)),
        name,
      ).toEqual([])
    }
    await memory.close()

    expect(options).toBeGreaterThan(120)
  })

  it('show every method of a memory in an example', async () => {
    using directory = temporaryDirectory()
    const memory = openMemory({ dir: join(directory.path, 'memory') })
    await memory.close()
    const programs = [...read('docs/api.md').matchAll(/```ts\n(.*?)```/gsu)].map(([, program]) => program).join('\n')

    expect(Object.keys(memory).filter((name) => !programs.includes(`.${name}(`))).toEqual([])
  })

  it('contain programs that print the output below them', { timeout: 60_000 }, () => {
    const programs = [...read('docs/api.md').matchAll(/```ts\n(.*?)```(?:(?!```).)*?```text\n(.*?)```/gsu)]

    expect(programs.length).toBeGreaterThan(2)
    for (const [, program = '', output] of programs) {
      using directory = temporaryDirectory()
      mkdirSync(join(directory.path, 'node_modules'))
      symlinkSync(process.cwd(), join(directory.path, 'node_modules', 'credence'))
      writeFileSync(join(directory.path, 'program.ts'), program)
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--conditions=credence-source', 'program.ts'], {
        cwd: directory.path,
        encoding: 'utf8',
      })

      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(stdout.replaceAll(/ +$/gmu, '').trimEnd()).toBe(output?.trimEnd())
    }
  })

  it.each(withExamples)('%s has examples that print the output below them', { timeout: 120_000 }, (page) => {
    const steps = examplesIn(read(page))
    using shell = shellWithCredence()

    const printed = steps.map(({ command }) => {
      const { stdout } = shell.run(`{ ${command}\n} 2>&1`)
      return `$ ${command}\n${stdout.trimEnd()}`
    })

    expect(steps.length).toBeGreaterThan(0)
    for (const [at, { command, output }] of steps.entries()) {
      const [whole = ''] = printed.slice(at)
      if (!isPrinted(whole, `$ ${command}\n${output}`)) expect(whole).toBe(`$ ${command}\n${output}`)
    }
  })

  it('begin with a first recall that works as the README prints it', { timeout: 120_000 }, () => {
    const [, commands = ''] = /## The first recall\n\n```\n(.*?)```/su.exec(read('README.md')) ?? []
    using shell = shellWithCredence()

    const { status, stdout, stderr } = shell.run(`set -e\n${commands}`)

    expect(status, stderr).toBe(0)
    expect(stdout).toContain('"Redis" is its alias')
    expect(stdout).toContain('Now: Sessions moved to Valkey 8.')
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('I rented a kayak near Voss')
  })

  it('contain requests that the server accepts', { timeout: 120_000 }, async () => {
    const requests = [...read('docs/http.md').matchAll(/```sh\n(.*?)```/gsu)].map(([, block]) => block).slice(1)
    using place = createSandbox()
    await place.run('remember', 'Invoices are due in 30 days.', '--name', 'invoice due', '--dir', 'memory')
    const server = place.start(['serve', '--dir', 'memory', '--port', '0', '--json'])
    const ended = once(server, 'close')
    try {
      const [announced] = await once(server.stdout.setEncoding('utf8'), 'data')
      const script = requests.join('\n').replaceAll('http://127.0.0.1:4777', JSON.parse(announced).url)
      const { stdout, stderr } = spawnSync('sh', ['-c', `${script.replaceAll('curl ', 'curl -sSf ')}`], {
        cwd: place.work,
        encoding: 'utf8',
      })

      expect(stderr).toBe('')
      expect(stdout).toContain('Invoices are due in 30 days.')
      expect(stdout.trimEnd().split('\n').at(-1)).toContain('The invoice went out on Monday.')
    } finally {
      server.kill()
      await ended
    }
  })

  it.each(pages)('%s links to headings that exist', (page) => {
    const anchors = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/gu)]
    const missing = anchors.filter(([, path = '', anchor = '']) => {
      const headings = read(path === '' ? page : join(dirname(page), path)).matchAll(/^#+ (.*)$/gmu)
      const known = [...headings].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w\- ]/gu, '')
          .replaceAll(' ', '-'),
      )
      return !known.includes(anchor)
    })

    expect(missing.map(([link]) => link)).toEqual([])
  })

  it('justify every dependency', () => {
    const { dependencies, devDependencies, peerDependencies = {} } = JSON.parse(read('package.json'))
    const page = read('docs/dependencies.md')
    const names = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })

    expect(names.filter((name) => !page.includes(name))).toEqual([])
  })

  it('explain every decision in fewer than 66 lines', () => {
    for (const file of globSync('docs/decisions/0*.md')) {
      const text = read(file)
      for (const part of ['**Context.**', '**Choice.**', '**Consequence.**']) expect(text, file).toContain(part)
      expect(text.split('\n').length, file).toBeLessThan(66)
    }
  })

  it('need at most 25 terms of our own', () => {
    const entries = read('docs/GLOSSARY.md')
      .split('\n')
      .filter((line) => /^\| (?!word |-)/u.test(line))

    expect(entries.length).toBeGreaterThan(0)
    expect(entries.length).toBeLessThanOrEqual(25)
  })

  it('are reached from the index, and the index from the README', () => {
    const index = read('docs/index.md')
    const unreached = globSync('docs/{*,reference/*}.md').filter((page) => !index.includes(`](${page.slice(5)}`))

    expect(unreached).toEqual(['docs/index.md'])
    expect(read('README.md')).toContain('](docs/index.md)')
  })
})

describe('the check of examples', () => {
  it('accepts … for the rest of a line or for any number of lines, and would notice a wrong word', () => {
    const page = 'Text\n```console\n$ one "a"\nfirst b-…\n…\nlast\n$ two <<END\n> a\n> END\nb\n```\n```\n$ three\n```'

    expect(examplesIn(page)).toEqual([
      { command: 'one "a"', output: 'first b-…\n…\nlast' },
      { command: 'two <<END\na\nEND', output: 'b' },
    ])
    expect(isPrinted('first b-12\nlast', 'first b-…\n…\nlast')).toBe(true)
    expect(isPrinted('first b-12\nmore\nlast', 'first b-…\n…\nlast')).toBe(true)
    expect(isPrinted('first b-12\nmore\nlost', 'first b-…\n…\nlast')).toBe(false)
    expect(isPrinted('first b-12\nlast\nmore', 'first b-…\n…\nlast')).toBe(false)
  })
})

describe('the check of paths', () => {
  it('finds paths of this repository, and would detect a missing one', () => {
    const text = 'See `src/nothing/here.ts`, [a page](docs/missing.md), `credence recall` and `memory/MEMORY.md`.'

    expect(pathsIn(text)).toEqual(['src/nothing/here.ts', 'docs/missing.md'])
  })
})
