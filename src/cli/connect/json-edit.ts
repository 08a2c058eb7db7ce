import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { MemoryError } from '../../errors.ts'

type Entry = { readonly path: readonly string[]; readonly value: unknown }
/** Whether a value may be removed as ours. */
type IsOurs = (value: unknown) => boolean

/** An entry of Credence in a configuration: the value at a path (ours by default), or one element of the list there. */
export type JsonEntry = Entry &
  ({ readonly kind: 'value'; readonly isOurs?: IsOurs } | { readonly kind: 'element'; readonly isOurs: IsOurs })

/** A text with the entries; comments, order and layout stay. */
export function withEntries(text: string | null, entries: readonly JsonEntry[], file: string): string {
  let edited = text === null || text.trim() === '' ? '{}\n' : text
  requireObject(edited, file)
  for (const entry of entries) {
    requireRoom(parseLoosely(edited), entry, file)
    edited = withEntry(edited, entry)
  }
  return edited
}

/**
 * A text without the entries, and without containers that this leaves empty, unless `before` had them. Values of `before`
 * that the entries replaced are restored.
 */
export function withoutEntries(
  text: string,
  entries: readonly JsonEntry[],
  { file, before }: { readonly file: string; readonly before: string | null },
): string {
  requireObject(text, file)
  const kept = before === null ? {} : parseLoosely(before)
  let edited = text
  for (const entry of entries) edited = withoutEntry(edited, entry, kept)
  return edited
}

function withEntry(text: string, entry: JsonEntry): string {
  if (entry.kind === 'value') return set(text, entry.path, entry.value)
  const list = valueAt(parseLoosely(text), entry.path)
  if (!Array.isArray(list)) return set(text, entry.path, [entry.value])
  const at = list.findIndex(entry.isOurs)
  if (at >= 0) return set(text, [...entry.path, at], entry.value)
  return set(text, [...entry.path, list.length], entry.value, true)
}

function withoutEntry(text: string, entry: JsonEntry, kept: unknown): string {
  const found = valueAt(parseLoosely(text), entry.path)
  if (found === undefined) return text
  if (entry.kind === 'value') {
    if (entry.isOurs?.(found) === false) return text
    const earlier = valueAt(kept, entry.path)
    if (earlier !== undefined) return set(text, entry.path, earlier)
    return pruned(cut(text, entry.path), entry.path.slice(0, -1), kept)
  }
  if (!Array.isArray(found)) return text
  let edited = text
  for (let at = found.length - 1; at >= 0; at -= 1) {
    if (entry.isOurs(found[at])) edited = cut(edited, [...entry.path, at])
  }
  return edited === text ? text : pruned(edited, entry.path, kept)
}

/** Removes containers that hold nothing any more, from the inside out. */
function pruned(text: string, path: readonly string[], kept: unknown): string {
  if (path.length === 0) return text
  const value = valueAt(parseLoosely(text), path)
  const isEmpty = value !== null && typeof value === 'object' && Object.keys(value).length === 0
  if (!isEmpty || valueAt(kept, path) !== undefined) return text
  return pruned(cut(text, path), path.slice(0, -1), kept)
}

function set(text: string, path: readonly (string | number)[], value: unknown, isArrayInsertion = false): string {
  const formattingOptions = layoutOf(text)
  const target: JSONPath = [...path]
  return applyEdits(text, modify(text, target, value, { formattingOptions, isArrayInsertion }))
}

/**
 * The text without one member of an object or one element of a list, its comma and the blanks before it. The library
 * would take comments with it that stand behind the neighbour.
 */
function cut(text: string, path: readonly (string | number)[]): string {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const value = tree && findNodeAtLocation(tree, [...path])
  const node = value?.parent?.type === 'property' ? value.parent : value
  if (node === undefined) return text
  const end = node.offset + node.length
  const start = text.slice(0, node.offset).search(/(?:\r?\n)?[ \t]*$/)
  const behind = commaFrom(text, end)
  if (behind !== null) return text.slice(0, start) + text.slice(behind + 1)
  const siblings = node.parent?.children ?? []
  const before = siblings[siblings.indexOf(node) - 1]
  const comma = before === undefined ? null : commaFrom(text, before.offset + before.length)
  const without = text.slice(0, start) + text.slice(end)
  return comma === null ? without : without.slice(0, comma) + without.slice(comma + 1)
}

/** Where the next comma is, if nothing but blanks and comments lie before it. */
function commaFrom(text: string, offset: number): number | null {
  const scanner = createScanner(text, true)
  scanner.setPosition(offset)
  return scanner.scan() === commaToken ? scanner.getTokenOffset() : null
}

/** `SyntaxKind.CommaToken`, which the library declares as a constant that only its own compiler can read. */
const commaToken = 5

/** As the file is written already. */
function layoutOf(text: string): { tabSize: number; insertSpaces: boolean; eol: string } {
  const [, indent = '  '] = /^([ \t]+)"/m.exec(text) ?? []
  return {
    tabSize: indent.includes('\t') ? 1 : indent.length,
    insertSpaces: !indent.includes('\t'),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
}

const parseLoosely = (text: string): unknown => parse(text, [], { allowTrailingComma: true })

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at: unknown = value
  for (const key of path) {
    if (at === null || typeof at !== 'object' || Array.isArray(at) || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}

/** An existing value on the path of an entry must be of the type that can hold it. */
function requireRoom(root: unknown, { kind, path }: JsonEntry, file: string): void {
  for (let length = 1; length <= path.length; length += 1) {
    const found = valueAt(root, path.slice(0, length))
    if (found === undefined) return
    const wanted = length < path.length ? 'object' : kind === 'element' ? 'list' : null
    const actual = Array.isArray(found) ? 'list' : found !== null && typeof found === 'object' ? 'object' : 'value'
    if (wanted === null || wanted === actual) continue
    const place = path.slice(0, length).join('.')
    throw cannotEdit(file, `${place} is ${JSON.stringify(found).slice(0, 40)}, not a ${wanted}`)
  }
}

/** A file with syntax errors is not edited. */
function requireObject(text: string, file: string): void {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first === undefined && tree?.type === 'object') return
  const line = first === undefined ? 1 : text.slice(0, first.offset).split('\n').length
  const reason = first === undefined ? 'it holds no object' : `line ${line}: ${printParseErrorCode(first.error)}`
  throw cannotEdit(file, reason)
}

const cannotEdit = (file: string, reason: string): MemoryError =>
  new MemoryError('invalid', `${file} cannot be edited: ${reason}.`, {
    hint: 'Mend it, or see with --print what to write into it by hand.',
  })
