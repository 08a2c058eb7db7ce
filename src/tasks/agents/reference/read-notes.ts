import { sentencesOf } from './segments.ts'
import type { Statement } from './statement.ts'

const idComment = /\s*<!--\s*credence:(?<id>\S+)[^>]*-->/u

/**
 * What a text file says, statement by statement, each with the headings it stands under. Items that the memory wrote
 * carry the id of their belief; `known` says which of those are known already.
 */
export function readNotes(file: string, text: string, known: (id: string) => boolean): readonly Statement[] {
  const statements: Statement[] = []
  const headings: string[] = []
  let isManaged = false
  const add = (said: string, handles: readonly string[]): void => {
    const order = statements.length
    statements.push({ id: `${file}:${order}`, text: said, handles: [...handles, ...headings], file, order })
  }
  if (/\.json$/iu.test(file)) return fromJson(file, text)
  for (const line of withoutComments(text).split(/\r\n|\n|\r/u)) {
    const heading = /^(#{1,6})\s+(.+?)\s*#*$/u.exec(line)
    if (heading !== null) {
      headings.length = Math.min(headings.length, (heading[1]?.length ?? 1) - 1)
      headings.push(heading[2] ?? '')
      isManaged = false
      continue
    }
    const id = idComment.exec(line)?.groups?.id
    const isIndented = /^\s{2,}\S/u.test(line)
    if (id !== undefined) isManaged = known(decoded(id))
    else if (!isIndented) isManaged = false
    if (isManaged || /^\s*[-*+] (?:aliases|scopes):/iu.test(line)) continue
    const said = line
      .replace(idComment, '')
      .replace(/^\s*(?:[-*+•]|\d+[.)]|>)\s+(?:\[[ xX]\]\s+)?/u, '')
      .trim()
    if (said === '' || /^[-=*_|:\s]+$/u.test(said)) continue
    const named = /^(?:\*\*|__)(.+?):?(?:\*\*|__)\s*(?:[:–—-]\s*)?(.*)$/u.exec(said)
    const name = named?.[1] ?? ''
    const rest = named === null ? said : (named[2] ?? '') === '' ? name : `${name}: ${named[2]}`
    for (const sentence of sentencesOf(rest)) add(sentence, name === '' ? [] : [name])
  }
  return statements
}

/** An id as the memory wrote it; anything else stands for itself. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** The last lines before the mark of the mirror explain the file and say nothing about anybody. */
const withoutComments = (text: string): string =>
  text
    .replace(/(?:^|\n\n)(?:[^\n]+\n)+\n*(?=<!--\s*credence:mirror\b)/u, '\n')
    .replace(/<!--(?!\s*credence:[^\s]+(?:\s[a-z]+)*\s*-->)[\s\S]*?-->/gu, '')

/** `{"theme": "dark"}` says "theme: dark". */
function fromJson(file: string, text: string): readonly Statement[] {
  const found: Statement[] = []
  const walk = (value: unknown, path: readonly string[]): void => {
    if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value)) walk(inner, Array.isArray(value) ? path : [...path, key])
      return
    }
    const name = path.join(' ')
    const order = found.length
    found.push({ id: `${file}:${order}`, text: `${name}: ${String(value)}`, handles: [name], file, order })
  }
  try {
    walk(JSON.parse(text), [])
  } catch {
    // Not JSON after all: it says nothing that can be quoted.
    return []
  }
  return found
}
