import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pathsIn } from './paths-in-docs.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const pages = [...globSync('*.md'), ...globSync('docs/**/*.md'), ...globSync('packs/*/README.md')].sort()
const read = (file: string): string => readFileSync(file, 'utf8')

describe('the documents', () => {
  it('have a README of fewer than 150 lines', () => {
    expect(read('README.md').split('\n').length).toBeLessThan(150)
  })

  it.each(pages)('%s names only files and folders that exist', (page) => {
    const missing = pathsIn(read(page)).filter((path) => !existsSync(path) && !existsSync(join(dirname(page), path)))

    expect(missing).toEqual([])
  })

  it('list every export of the library', () => {
    const source = read('src/index.ts')
    const exported = [...source.matchAll(/export (?:type )?\{([^}]+)\}/gu)].flatMap(([, names]) =>
      (names as string).split(',').map((name) => name.replace('type ', '').trim()),
    )
    const page = read('docs/api.md')

    expect(exported.length).toBeGreaterThan(5)
    expect(exported.filter((name) => name !== '' && !page.includes(`\`${name}`) && !page.includes(`${name}(`))).toEqual(
      [],
    )
  })

  it('hold programs that print what stands below them', { timeout: 60_000 }, () => {
    const programs = [...read('docs/api.md').matchAll(/```ts\n(.*?)```(?:(?!```).)*?```text\n(.*?)```/gsu)]

    expect(programs.length).toBeGreaterThan(1)
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

  it('justify every dependency', () => {
    const { dependencies, devDependencies, peerDependencies = {} } = JSON.parse(read('package.json'))
    const page = read('docs/dependencies.md')
    const names = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })

    expect(names.filter((name) => !page.includes(name))).toEqual([])
  })

  it('explain every decision in half a page', () => {
    for (const file of globSync('docs/decisions/*.md')) {
      const text = read(file)
      for (const part of ['**Context.**', '**Choice.**', '**Consequence.**']) expect(text, file).toContain(part)
      expect(text.split('\n').length, file).toBeLessThan(40)
    }
  })

  it('need no more than 25 words of our own', () => {
    const entries = read('docs/GLOSSARY.md')
      .split('\n')
      .filter((line) => /^\| (?!word |-)/u.test(line))

    expect(entries.length).toBeGreaterThan(0)
    expect(entries.length).toBeLessThanOrEqual(25)
  })

  it('are reached from the README', () => {
    const index = read('README.md')
    const unreached = globSync('docs/*.md').filter((page) => !index.includes(page))

    expect(unreached).toEqual([])
  })
})

describe('the check of paths', () => {
  it('finds what looks like a path of this repository, and would notice a missing one', () => {
    const text = 'See `src/nothing/here.ts`, [a page](docs/missing.md), `credence recall` and `memory/MEMORY.md`.'

    expect(pathsIn(text)).toEqual(['src/nothing/here.ts', 'docs/missing.md'])
  })
})
