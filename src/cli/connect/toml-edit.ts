import { parse, stringify, TomlError, type TomlTable } from 'smol-toml'
import { conflict, invalid } from '../../errors.ts'

type TomlEntry = {
  readonly path: readonly string[]
  readonly table: TomlTable
  /** Whether the table at the path was written by Credence. */
  readonly isOurs: (table: unknown) => boolean
}

/** Adds our table at the end of a text, or replaces it. Everything else stays unchanged. */
export function withTable(text: string | null, entry: TomlEntry, file: string): string {
  const { path, table, isOurs } = entry
  const given = text ?? ''
  const found = tableAt(parseTomlFile(given, file), path)
  if (found !== undefined && stringify(found) === stringify(table)) return given
  if (found !== undefined && !isOurs(found))
    throw conflict(
      `${file} has a [${path.join('.')}] that Credence did not write.`,
      'Remove it, or see with --dry-run what to write by hand.',
    )
  const bare = withoutTable(given, entry, file)
  const eol = bare.includes('\r\n') ? '\r\n' : '\n'
  const block = `[${path.join('.')}]\n${stringify(table).trim()}\n`.replaceAll('\n', eol)
  const gap = bare === '' ? '' : bare.endsWith('\n') ? eol : eol + eol
  const edited = bare + gap + block
  if (!hasTable(edited, path))
    throw invalid(
      `${file} cannot be edited: ${path.slice(0, -1).join('.')} is an inline table, or no table.`,
      'Write it as a table with a header, or see with --dry-run what to add by hand.',
    )
  return edited
}

function hasTable(text: string, path: readonly string[]): boolean {
  try {
    return tableAt(parse(text, whole), path) !== undefined
  } catch (error) {
    if (error instanceof TomlError) return false
    throw error
  }
}

/**
 * Removes our table and its subtables from a text, found by their headers, even if the host has moved them. The host's text
 * between or after them stays.
 */
export function withoutTable(text: string, { path, isOurs }: TomlEntry, file: string): string {
  const value = parseTomlFile(text, file)
  const found = tableAt(value, path)
  if (found === undefined || !isOurs(found)) return text
  let edited = text
  for (const { start, end } of sectionsOf(text)
    .filter((one) => isWithin(one.path, path))
    .reverse())
    edited = joinAround(edited.slice(0, start), edited.slice(end))
  const wanted = without(value, path)
  const left = stringify(parseTomlFile(edited, file))
  if (left === stringify(wanted) || left === stringify(pruneEmpty(wanted, path))) return edited
  throw conflict(`${file} contains [${path.join('.')}] in a form that Credence does not edit.`, 'Remove it by hand.')
}

/** Joins the parts around a removed table, without the blank line before it. */
function joinAround(before: string, after: string): string {
  if (before === '') return after.replace(/^(?:\r?\n)+/, '')
  return before.replace(/(\r?\n)\r?\n$/, '$1') + after
}

type Section = { readonly path: readonly string[]; readonly start: number; readonly end: number }

/** The tables of a valid text. Each ends after its last line that is neither blank nor a comment. */
function sectionsOf(text: string): readonly Section[] {
  const sections: Section[] = []
  for (const { start, end, isHeader } of statementsOf(text)) {
    const open = sections.at(-1)
    if (isHeader) sections.push({ path: pathIn(text.slice(start, end)), start, end })
    else if (open !== undefined) sections[sections.length - 1] = { ...open, end }
  }
  return sections
}

/** The headers and assignments of a valid text, each with its line break. Blank lines and comments are left out. */
function* statementsOf(text: string): Generator<{ start: number; end: number; isHeader: boolean }> {
  // A whole string, a comment, a bracket, or a line break; other text is skipped.
  const token = /"""[\s\S]*?"{3,5}(?!")|'''[\s\S]*?'{3,5}(?!')|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\n/g
  let start = 0
  let depth = 0
  const statement = (end: number) => {
    const line = text.slice(start, end)
    const isEmpty = /^\s*(?:#.*)?$/.test(line)
    return isEmpty ? null : { start, end, isHeader: /^\s*\[/.test(line) }
  }
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === '[' || found === '{') depth += 1
    else if (found === ']' || found === '}') depth -= 1
    else if (found === '\n' && depth === 0) {
      const ended = statement(index + 1)
      if (ended !== null) yield ended
      start = index + 1
    }
  }
  const last = statement(text.length)
  if (last !== null) yield last
}

/** The path in a table header, parsed as TOML. */
function pathIn(header: string): readonly string[] {
  const path: string[] = []
  let at: unknown = parse(header)
  for (;;) {
    if (Array.isArray(at)) at = at[0]
    const [key] = at !== null && typeof at === 'object' ? Object.keys(at) : []
    if (key === undefined) return path
    path.push(key)
    at = Reflect.get(at as object, key)
  }
}

const isWithin = (path: readonly string[], outer: readonly string[]): boolean =>
  outer.every((key, place) => path[place] === key)

function tableAt(table: TomlTable, path: readonly string[]): unknown {
  let at: unknown = table
  for (const key of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}

/** A copy of a table without the value at the path. */
function without(value: TomlTable, [key = '', ...rest]: readonly string[]): TomlTable {
  const { [key]: inner, ...others } = value
  if (rest.length === 0) return others
  return { ...value, [key]: without(inner as TomlTable, rest) }
}

/** Removes the parent of our table if it is empty. */
function pruneEmpty(value: TomlTable, path: readonly string[]): TomlTable {
  const parent = path.slice(0, -1)
  const left = tableAt(value, parent)
  return left !== undefined && Object.keys(left as object).length === 0 ? without(value, parent) : value
}

/** TOML allows 64-bit integers, which need BigInt. */
const whole = { integersAsBigInt: 'asNeeded' } as const

function parseTomlFile(text: string, file: string): TomlTable {
  try {
    return parse(text, whole)
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw invalid(
      `${file} cannot be edited: ${reason}.`,
      'Correct the file, or see with --dry-run what to add by hand.',
      cause,
    )
  }
}
