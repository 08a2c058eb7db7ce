import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { invalid, type MemoryError } from '../../errors.ts'
import { parseJson } from '../../json.ts'

/** The JSON dialect that the program of a file reads. `jsonc` allows comments and trailing commas. */
export type JsonDialect = 'json' | 'jsonc'

type Entry = { readonly path: readonly string[]; readonly value: unknown }
/** Whether a value is ours, so that it may be removed. */
type IsOurs = (value: unknown) => boolean

/**
 * An entry of Credence in a configuration. `value`: the value at a path, ours unless `isOurs` returns false. `element`: one
 * element of the list at the path. With `group`, that list contains objects, and each object has a list of elements under this
 * key, some of which may belong to other programs. A new object also gets the fields in `beside`.
 */
export type JsonEntry = Entry &
  (
    | { readonly kind: 'value'; readonly isOurs?: IsOurs }
    | { readonly kind: 'element'; readonly isOurs: IsOurs; readonly group?: string; readonly beside?: object }
  )

type JsonFile = { readonly file: string; readonly dialect: JsonDialect }
type Path = readonly (string | number)[]

/** Adds the entries to a text. Other values and comments stay; the indentation of adjacent lines may change. */
export function withEntries(text: string | null, entries: readonly JsonEntry[], { file, dialect }: JsonFile): string {
  let edited = text === null || text.trim() === '' ? '{}\n' : text
  requireObject(edited, file, dialect)
  for (const entry of entries) {
    requireRoom(edited, entry, file)
    edited = withEntry(edited, entry)
  }
  requireObject(edited, file, dialect)
  return edited
}

/**
 * Removes the entries from a text, and containers that become empty, unless `before` had them. Restores values of `before`
 * that the entries had replaced.
 */
export function withoutEntries(
  text: string,
  entries: readonly JsonEntry[],
  { file, dialect, before }: JsonFile & { readonly before: string | null },
): string {
  requireObject(text, file, dialect)
  return entries.reduce((edited, entry) => withoutEntry(edited, entry, before ?? '{}'), text)
}

function withEntry(text: string, entry: JsonEntry): string {
  const { path, value } = entry
  const found = valueAt(text, path)
  if (entry.kind === 'value') return isSame(found, value) ? text : withValue(text, path, value)
  const own = elementsIn(found, entry.group).filter((element) => entry.isOurs(element.value))
  if (own.length > 0)
    return own
      .filter((element) => !isSame(element.value, value))
      .reduce((edited, element) => withValue(edited, [...path, ...element.path], value), text)
  const added = entry.group === undefined ? value : { ...entry.beside, [entry.group]: [value] }
  return Array.isArray(found) ? withValue(text, [...path, found.length], added) : withValue(text, path, [added])
}

type Element = { readonly path: Path; readonly value: unknown }

/** The elements of a list or of its groups, with their paths below the list. */
function elementsIn(list: unknown, group: string | undefined): readonly Element[] {
  if (!Array.isArray(list)) return []
  const elements = list.map((value: unknown, at) => ({ path: [at], value }))
  if (group === undefined) return elements
  return elements.flatMap(({ path: [at = 0], value }) =>
    elementsIn(Object(value)[group], undefined).map((inner) => ({ ...inner, path: [at, group, ...inner.path] })),
  )
}

function withoutEntry(text: string, entry: JsonEntry, before: string): string {
  const { path } = entry
  const found = valueAt(text, path)
  if (found === undefined) return text
  const earlier = valueAt(before, path)
  if (entry.kind === 'value') {
    if (entry.isOurs?.(found) === false) return text
    if (earlier !== undefined) return withValue(text, path, earlier)
    return withoutEmpty(withoutNode(text, path), path.slice(0, -1), before)
  }
  const kept = elementsIn(earlier, entry.group).map(({ value }) => JSON.stringify(value))
  const own = elementsIn(found, entry.group).filter(
    ({ value }) => entry.isOurs(value) && !kept.includes(JSON.stringify(value)),
  )
  const cut = own.toReversed().reduce((edited, element) => {
    const rest = withoutNode(edited, [...path, ...element.path])
    const holder = [...path, ...element.path.slice(0, 1)]
    const isEmptyGroup = entry.group !== undefined && isEmpty(valueAt(rest, [...holder, entry.group]))
    return isEmptyGroup ? withoutNode(rest, holder) : rest
  }, text)
  return own.length === 0 ? text : withoutEmpty(cut, path, before)
}

const isEmpty = (value: unknown): boolean =>
  value !== null && typeof value === 'object' && Object.keys(value).length === 0

/** Removes empty containers at a path and above, unless `before` had them. */
function withoutEmpty(text: string, path: readonly string[], before: string): string {
  if (path.length === 0 || !isEmpty(valueAt(text, path)) || valueAt(before, path) !== undefined) return text
  return withoutEmpty(withoutNode(text, path), path.slice(0, -1), before)
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const nodeAt = (text: string, path: Path): Node | undefined => {
  const root = parseTree(text, [], { allowTrailingComma: true })
  return root === undefined ? undefined : findNodeAtLocation(root, [...path])
}

const valueAt = (text: string, path: Path): unknown => {
  const node = nodeAt(text, path)
  return node === undefined ? undefined : getNodeValue(node)
}

/** Sets the value at a path, with the indentation of the file. */
function withValue(text: string, path: Path, value: unknown): string {
  const indent = /^([ \t]+)\S/mu.exec(text)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }))
}

/** Removes a member or an element with its comma and line. Does not use `modify`, which also removes adjacent comments. */
function withoutNode(text: string, path: Path): string {
  const value = nodeAt(text, path)
  const node = value?.parent?.type === 'property' ? value.parent : value
  const siblings = node?.parent?.children ?? []
  if (node === undefined) return text
  const end = node.offset + node.length
  const comma = commaFrom(text, end)
  const rest = text.slice(comma ?? end)
  const isOnOwnLine = /^[ \t]*(?:\r?\n|[\]}])/u.test(rest)
  const start = text.slice(0, node.offset).search(isOnOwnLine ? /(?:\r?\n)?[ \t]*$/u : /[ \t]*$/u)
  const previous = siblings[siblings.indexOf(node) - 1]
  const needless = comma === null && previous !== undefined ? commaFrom(text, previous.offset + previous.length) : null
  const head = needless === null ? text.slice(0, start) : text.slice(0, needless - 1) + text.slice(needless, start)
  return head + text.slice(end, comma === null ? end : comma - 1) + rest
}

/** The position after the next comma, if only white space and comments precede it. */
function commaFrom(text: string, offset: number): number | null {
  const scanner = createScanner(text, true)
  scanner.setPosition(offset)
  scanner.scan()
  return text[scanner.getTokenOffset()] === ',' ? scanner.getTokenOffset() + 1 : null
}

/** Throws a MemoryError if the text is not an object in the dialect. */
function requireObject(text: string, file: string, dialect: JsonDialect): void {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split('\n').length
    throw cannotEdit(file, `it is not JSON (${printParseErrorCode(error.error)} in line ${line})`)
  }
  if (root?.type !== 'object') throw cannotEdit(file, 'it contains no object')
  if (dialect === 'json' && parseJson(text) === undefined)
    throw cannotEdit(file, 'it has comments or trailing commas, which its program does not read')
}

/** Throws a MemoryError if an existing value on the path of an entry has the wrong type. */
function requireRoom(text: string, { kind, path }: JsonEntry, file: string): void {
  for (let length = 1; length <= path.length; length += 1) {
    const found = valueAt(text, path.slice(0, length))
    if (found === undefined) return
    const wanted = length < path.length ? 'object' : kind === 'element' ? 'list' : null
    const actual = Array.isArray(found) ? 'list' : found !== null && typeof found === 'object' ? 'object' : 'value'
    if (wanted === null || wanted === actual) continue
    const place = path.slice(0, length).join('.')
    throw cannotEdit(
      file,
      `${place} is ${JSON.stringify(found).slice(0, 40)}, not ${wanted === 'object' ? 'an' : 'a'} ${wanted}`,
    )
  }
}

const cannotEdit = (file: string, reason: string): MemoryError =>
  invalid(`${file} cannot be edited: ${reason}.`, 'Correct the file, or see with --dry-run what to add by hand.')
