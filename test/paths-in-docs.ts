/** Folders whose mention in a document refers to this repository. */
const roots = [
  'src',
  'test',
  'docs',
  'packs',
  'bench',
  'bin',
  'scripts',
  'examples',
  'baselines',
  'integrations',
  'web',
  '.ci',
]
const inCode = /`([^`\s]+)`/gu
const inLink = /\]\(([^)\s#]+)(?:#[^)]*)?\)/gu

/** The distinct paths of this repository that a Markdown text mentions, in code or as links. Patterns and URLs are left out. */
export function pathsIn(markdown: string): readonly string[] {
  const prose = markdown.replaceAll(/```[\s\S]*?```/gu, '')
  const links = [...prose.matchAll(inLink)].map(([, path]) => path as string).filter((path) => !/^[a-z]+:/u.test(path))
  const code = [...prose.matchAll(inCode)]
    .map(([, path]) => (path as string).replace(/[:,.]$/u, ''))
    .filter((path) => roots.some((root) => path.startsWith(`${root}/`)))
  return [...new Set([...code, ...links])].filter((path) => !/[<>*{}$…]/u.test(path))
}
