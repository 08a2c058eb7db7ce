import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (file: string): string => readFileSync(file, 'utf8')
const manifest = JSON.parse(read('package.json'))

describe('package.json', () => {
  it('names the same repository as the MCP registry', () => {
    const [, owner, name] = /^io\.github\.([\w-]+)\/([\w-]+)$/u.exec(manifest.mcpName) ?? []
    const home = `https://github.com/${owner}/${name}`

    expect(manifest).toMatchObject({
      name,
      repository: { type: 'git', url: `git+${home}.git` },
      homepage: `${home}#readme`,
      bugs: { url: `${home}/issues` },
    })
    expect(manifest.keywords.length).toBeGreaterThan(4)
  })

  it('publishes every file that the README links to', () => {
    const links = [...read('README.md').matchAll(/\]\((?!https?:|#)([^)#]+)/gu)].map(([, path]) => path as string)
    // npm always publishes these, even if `files` omits them.
    const published = [...manifest.files, 'README.md', 'LICENSE', 'package.json']

    expect(links.length).toBeGreaterThan(10)
    expect(links.filter((link) => !published.some((path) => link === path || link.startsWith(`${path}/`)))).toEqual([])
  })
})

describe('docs/third-party.md', () => {
  it('has the licence of every package in the dashboard', () => {
    const sources = globSync('web/src/**/*.{ts,tsx}').map(read).join('\n')
    const imported = [...sources.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)[^']*'/gu)].map(([, name]) => name as string)
    const bundled = new Set([...imported, '@preact/signals-core'])
    const words = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim()
    const notices = words(read('docs/third-party.md'))

    expect([...bundled].sort()).toEqual(expect.arrayContaining(['@preact/signals', 'preact']))
    for (const name of bundled) {
      const paragraphs = read(`node_modules/${name}/LICENSE`)
        .split(/\n\s*\n/u)
        .map(words)
      expect(
        paragraphs.filter((paragraph) => !notices.includes(paragraph)),
        name,
      ).toEqual([])
    }
  })
})

describe('src/index.ts', () => {
  const source = read('src/memory/memory.ts')
  const [, body = ''] = /^export type Memory = \{\n(.*?)^\}/msu.exec(source) ?? []
  const builtIn = ['AsyncIterable', 'Omit', 'Partial', 'Promise']
  const named = (text: string): readonly string[] => {
    const code = text.replaceAll(/\/\*\*.*?\*\//gsu, '')
    return [...new Set([...code.matchAll(/\b[A-Z]\w+/gu)].map(([name]) => name))].filter(
      (name) => !builtIn.includes(name),
    )
  }

  it('exports every type that a method of a memory takes or returns', () => {
    const exported = named(read('src/index.ts'))

    expect(named(body)).toEqual(expect.arrayContaining(['Context', 'RecallOptions', 'UndoResult']))
    expect(named(body).filter((name) => !exported.includes(name))).toEqual([])
  })
})
