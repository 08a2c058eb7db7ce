import { type DocumentNode, evaluate, parse, type ValueNode } from '@humanwhocodes/momoa'
import { invalid, type MemoryError } from '../../errors.ts'

/** The JSON that the program of a file reads: `jsonc` has comments and trailing commas, `json5` also bare keys. */
export type JsonDialect = 'json' | 'jsonc' | 'json5'

type Entry = { readonly path: readonly string[]; readonly value: unknown }
/** Whether a value may be removed as ours. */
type IsOurs = (value: unknown) => boolean

/**
 * An entry of Credence in a configuration: the value at a path (ours by default), or one element of the list there. With
 * `group` the list there has objects with lists of elements under that key, and others may have elements in the same list.
 */
export type JsonEntry = Entry &
  (
    | { readonly kind: 'value'; readonly isOurs?: IsOurs }
    | { readonly kind: 'element'; readonly isOurs: IsOurs; readonly group?: string }
  )

type JsonFile = { readonly file: string; readonly dialect: JsonDialect }

/** A text with the entries; every other byte stays, apart from a comma behind a neighbour. */
export function withEntries(text: string | null, entries: readonly JsonEntry[], { file, dialect }: JsonFile): string {
  const document = JsonText.parse(text === null || text.trim() === '' ? '{}\n' : text, file, dialect)
  for (const entry of entries) {
    requireRoom(document, entry, file)
    addEntry(document, entry)
  }
  return document.text
}

/**
 * A text without the entries, and without containers that this leaves empty, unless `before` had them. Values of `before`
 * that the entries replaced are restored.
 */
export function withoutEntries(
  text: string,
  entries: readonly JsonEntry[],
  { file, dialect, before }: JsonFile & { readonly before: string | null },
): string {
  const document = JsonText.parse(text, file, dialect)
  const kept = JsonText.parse(before ?? '{}', file, dialect)
  for (const entry of entries) removeEntry(document, entry, kept)
  return document.text
}

function addEntry(document: JsonText, entry: JsonEntry): void {
  if (entry.kind === 'value') {
    if (JSON.stringify(document.valueAt(entry.path)) !== JSON.stringify(entry.value))
      document.set(entry.path, entry.value)
    return
  }
  const list = document.valueAt(entry.path)
  const own = elementsIn(list, entry.group).filter(({ value }) => entry.isOurs(value))
  for (const { path, value } of own)
    if (JSON.stringify(value) !== JSON.stringify(entry.value)) document.set([...entry.path, ...path], entry.value)
  if (own.length > 0) return
  const added = entry.group === undefined ? entry.value : { [entry.group]: [entry.value] }
  if (Array.isArray(list)) document.append(entry.path, added)
  else document.set(entry.path, [added])
}

type Element = { readonly path: Path; readonly value: unknown }

/** The elements of a list, or those in its groups, with their paths below it. */
function elementsIn(list: unknown, group: string | undefined): readonly Element[] {
  if (!Array.isArray(list)) return []
  const elements = list.map((value: unknown, at) => ({ path: [at], value }))
  if (group === undefined) return elements
  return elements.flatMap(({ path: [at = 0], value }) =>
    elementsIn(Object(value)[group], undefined).map((inner) => ({ ...inner, path: [at, group, ...inner.path] })),
  )
}

function removeEntry(document: JsonText, entry: JsonEntry, kept: JsonText): void {
  const found = document.valueAt(entry.path)
  if (found === undefined) return
  if (entry.kind === 'value') {
    if (entry.isOurs?.(found) === false) return
    const earlier = kept.valueAt(entry.path)
    if (earlier === undefined) {
      document.cut(entry.path)
      prune(document, entry.path.slice(0, -1), kept)
    } else document.set(entry.path, earlier)
    return
  }
  const { path, group, isOurs } = entry
  const earlier = elementsIn(kept.valueAt(path), group).map(({ value }) => JSON.stringify(value))
  const own = elementsIn(found, group).filter(({ value }) => isOurs(value) && !earlier.includes(JSON.stringify(value)))
  for (const element of own.toReversed()) {
    document.cut([...path, ...element.path])
    const [at = 0] = element.path
    const isEmptyGroup =
      group !== undefined && elementsIn([Object(document.valueAt([...path, at]))], group).length === 0
    if (isEmptyGroup) document.cut([...path, at])
  }
  if (own.length > 0) prune(document, path, kept)
}

/** Removes containers that hold nothing any more, from the inside out. */
function prune(document: JsonText, path: readonly string[], kept: JsonText): void {
  if (path.length === 0) return
  const value = document.valueAt(path)
  const isEmpty = value !== null && typeof value === 'object' && Object.keys(value).length === 0
  if (!isEmpty || kept.valueAt(path) !== undefined) return
  document.cut(path)
  prune(document, path.slice(0, -1), kept)
}

type Path = readonly (string | number)[]
type Container = Extract<ValueNode, { type: 'Object' | 'Array' }>
type Child = { readonly start: number; readonly end: number; readonly key: string | number; readonly value: ValueNode }

const rangeOf = ({ loc }: Pick<ValueNode, 'loc'>): [number, number] => [loc.start.offset, loc.end.offset]

const isContainer = (node: ValueNode | undefined): node is Container =>
  node?.type === 'Object' || node?.type === 'Array'

const childrenOf = (node: Container): readonly Child[] =>
  (node.type === 'Array' ? node.elements : node.members).map((child, at) => {
    const [start, end] = rangeOf(child)
    const name = child.type === 'Element' ? null : child.name
    const key = name === null ? at : name.type === 'String' ? name.value : name.name
    return { start, end, key, value: child.value }
  })

/** A JSON text and its syntax tree, with edits that leave the bytes around them alone. */
class JsonText {
  text: string
  #tree: DocumentNode
  readonly #file: string
  readonly #dialect: JsonDialect

  private constructor(text: string, file: string, dialect: JsonDialect) {
    this.text = text
    this.#file = file
    this.#dialect = dialect
    this.#tree = this.#parsed()
  }

  /** Fails on a text that is not an object of the dialect. */
  static parse(text: string, file: string, dialect: JsonDialect): JsonText {
    const document = new JsonText(text, file, dialect)
    if (document.#tree.body.type !== 'Object') throw cannotEdit(file, 'it holds no object')
    return document
  }

  valueAt(path: Path): unknown {
    const node = this.#nodeAt(path)
    return node === undefined ? undefined : evaluate(node)
  }

  set(path: Path, value: unknown): void {
    const node = this.#nodeAt(path)
    if (node !== undefined) {
      const [start, end] = rangeOf(node)
      this.#replace(start, end, this.#written(value, this.#indentAt(start), !this.#isOneLine(path)))
      return
    }
    // The containers that are missing are made with it.
    let parent = path.slice(0, -1)
    let inner = value
    let key = path.at(-1)
    while (this.#nodeAt(parent) === undefined) {
      inner = { [String(key)]: inner }
      key = parent.at(-1)
      parent = parent.slice(0, -1)
    }
    this.#insert(parent, inner, String(key))
  }

  append(path: Path, value: unknown): void {
    this.#insert(path, value, null)
  }

  /** Removes one member or element, its comma and the blanks before it. Comments stay. */
  cut(path: Path): void {
    const parent = this.#nodeAt(path.slice(0, -1))
    if (!isContainer(parent)) return
    const siblings = childrenOf(parent)
    const place = siblings.findLastIndex(({ key }) => key === path.at(-1))
    const child = siblings[place]
    if (child === undefined) return
    const { text } = this
    const behind = this.#commaFrom(child.end)
    const rest = text.slice((behind ?? child.end - 1) + 1)
    // A line break stays if the same line has other text.
    const isOnOwnLine = /^[ \t]*(?:\r?\n|[\]}])/.test(rest)
    const start = text.slice(0, child.start).search(isOnOwnLine ? /(?:\r?\n)?[ \t]*$/ : /[ \t]*$/)
    const previous = siblings[place - 1]
    const before = previous === undefined ? null : this.#commaFrom(previous.end)
    let edited = text.slice(0, start) + rest
    if (behind === null && before !== null) edited = edited.slice(0, before) + edited.slice(before + 1)
    this.#replace(0, text.length, edited)
    // An emptied container is written as people write an empty one.
    const left = this.#nodeAt(path.slice(0, -1))
    if (!isContainer(left) || childrenOf(left).length > 0) return
    const [from, to] = rangeOf(left)
    if (/^\s*$/.test(this.text.slice(from + 1, to - 1))) this.#replace(from + 1, to - 1, '')
  }

  #insert(path: Path, value: unknown, key: string | null): void {
    const node = this.#nodeAt(path)
    if (!isContainer(node)) throw new TypeError(`There is no list or object at ${path.join('.')}.`)
    const [start, end] = rangeOf(node)
    const last = childrenOf(node).at(-1)
    const isWide = !this.#isOneLine(path)
    const own = this.#indentAt(start)
    const indent = last === undefined ? own + this.#unit() : this.#indentAt(last.start)
    const written = `${key === null ? '' : `${JSON.stringify(key)}: `}${this.#written(value, indent, isWide)}`
    const closing = start + this.text.slice(start, end - 1).trimEnd().length
    const comma = last === undefined ? null : this.#commaFrom(last.end)
    const endsInComment = this.#tree.tokens?.some(
      ({ type, loc }) => type === 'LineComment' && loc.start.offset < closing && loc.end.offset >= closing,
    )
    const lead = isWide || endsInComment ? this.#eol() + indent : last === undefined ? '' : ' '
    const blanks = this.text.slice(closing, end - 1)
    const tail = isWide && !blanks.includes('\n') ? this.#eol() + own : blanks
    const inserted = `${lead}${written}${comma === null ? '' : ','}${tail}`
    const head = this.text.slice(0, closing)
    const separated = last === undefined || comma !== null ? head : `${head.slice(0, last.end)},${head.slice(last.end)}`
    this.#replace(0, this.text.length, separated + inserted + this.text.slice(end - 1))
  }

  /** As the nearest container with children is written. A new file has many lines. */
  #isOneLine(path: Path): boolean {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = this.#nodeAt(path.slice(0, length))
      const [first] = isContainer(node) ? childrenOf(node) : []
      if (node !== undefined && first !== undefined)
        return !this.text.slice(rangeOf(node)[0], first.start).includes('\n')
    }
    return false
  }

  #written(value: unknown, indent: string, isWide: boolean): string {
    if (!isWide) return JSON.stringify(value)
    return JSON.stringify(value, null, this.#unit()).replaceAll('\n', this.#eol() + indent)
  }

  #indentAt(offset: number): string {
    const line = this.text.lastIndexOf('\n', offset - 1) + 1
    return /^[ \t]*/.exec(this.text.slice(line, offset))?.[0] ?? ''
  }

  #unit(): string {
    return /^([ \t]+)\S/m.exec(this.text)?.[1] ?? '  '
  }

  #eol(): string {
    return this.text.includes('\r\n') ? '\r\n' : '\n'
  }

  /** Where the next comma is, if nothing but blanks and comments lie before it. */
  #commaFrom(offset: number): number | null {
    const next = this.#tree.tokens?.find(
      ({ type, loc }) => loc.start.offset >= offset && type !== 'LineComment' && type !== 'BlockComment',
    )
    return next?.type === 'Comma' ? next.loc.start.offset : null
  }

  #nodeAt(path: Path): ValueNode | undefined {
    let node: ValueNode | undefined = this.#tree.body
    for (const step of path) {
      if (!isContainer(node)) return undefined
      node = childrenOf(node).findLast(({ key }) => key === step)?.value
    }
    return node
  }

  #replace(start: number, end: number, by: string): void {
    this.text = this.text.slice(0, start) + by + this.text.slice(end)
    this.#tree = this.#parsed()
  }

  #parsed(): DocumentNode {
    const mode = this.#dialect
    try {
      if (mode === 'json') JSON.parse(this.text)
      return parse(this.text, { mode, tokens: true, allowTrailingCommas: mode !== 'json' })
    } catch (cause) {
      throw cannotEdit(this.#file, reasonOf(cause, this.text, mode), cause)
    }
  }
}

/** Why the text is not valid, with the reason for comments and trailing commas, which editors accept. */
function reasonOf(cause: unknown, text: string, mode: JsonDialect): string {
  const message = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0]?.replace(/\.$/, '')
  if (mode !== 'json') return message ?? ''
  try {
    parse(text, { mode: 'jsonc', allowTrailingCommas: true })
    return 'it has comments or trailing commas, which its program does not read'
  } catch {
    return message ?? ''
  }
}

/** An existing value on the path of an entry must be of the type that can hold it. */
function requireRoom(document: JsonText, { kind, path }: JsonEntry, file: string): void {
  for (let length = 1; length <= path.length; length += 1) {
    const found = document.valueAt(path.slice(0, length))
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

const cannotEdit = (file: string, reason: string, cause?: unknown): MemoryError =>
  invalid(`${file} cannot be edited: ${reason}.`, 'Correct the file, or see with --dry-run what to add by hand.', cause)
