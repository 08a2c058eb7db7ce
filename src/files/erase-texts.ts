import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '../json.ts'
import { writeAtomically } from './atomic-write.ts'
import { codeOf, nullIfMissing } from './leftovers.ts'

/** The texts that were forgotten, and the beliefs and turns that they belong to. */
export type ForgottenTexts = {
  readonly beliefIds: readonly string[]
  readonly turnIds?: readonly string[]
  /** The texts of these beliefs and turns. */
  readonly said: readonly string[]
  /** Names and aliases of the beliefs. */
  readonly names: readonly string[]
}

/** The replacement for a forgotten text. Ids cannot contain brackets, so `markInId` is used there. */
export const forgottenMark = '[forgotten]'
const markInId = 'forgotten'

/** Min length of a text to erase. Shorter texts would match unrelated text too often. */
const minErasedLength = 4

/** False for a name of one plain word. Such a name identifies nothing, so it is erased only in records with the belief's id. */
export const isIdentifying = (name: string): boolean => /\s|\d/u.test(name.trim())

/** Replaces forgotten texts with a mark. Matches whole words and ignores case. */
export class Eraser {
  readonly #beliefIds: readonly string[]
  readonly #turnIds: readonly string[]
  readonly #said: Finder
  readonly #all: Finder

  /** Texts shorter than `minLength` are only replaced in records that contain the id of a forgotten belief. */
  constructor({ beliefIds, turnIds = [], said, names }: ForgottenTexts, minLength = minErasedLength) {
    this.#beliefIds = beliefIds
    this.#turnIds = turnIds
    const alone = [...said, ...names.filter(isIdentifying)]
    this.#said = new Finder(alone.filter((text) => text.trim().length >= minLength))
    this.#all = beliefIds.length === 0 ? this.#said : new Finder([...said, ...names])
  }

  /** Whether a text contains the id of a forgotten belief or turn, as copies of beliefs and turns do. */
  namesForgotten(text: string): boolean {
    const isIn = (id: string): boolean => text === id || text.endsWith(`.${id}`) || text.includes(`"${id}"`)
    return this.#beliefIds.some(isIn) || this.#turnIds.some(isIn)
  }

  /** False if a JSON text certainly contains nothing to erase. A backslash may be part of an escape that hides a text. */
  mayChange(json: string): boolean {
    return json.includes('\\') || this.#beliefIds.some((id) => json.includes(id)) || this.eraseText(json) !== json
  }

  eraseText(text: string): string {
    return this.#said.replaceIn(text, forgottenMark)
  }

  /** A copy of a JSON value with forgotten texts replaced; the value itself if it contains none. */
  eraseValue(value: unknown): unknown {
    const finder = this.#mentionsBelief(value) ? this.#all : this.#said
    return mapStrings(value, (text) => finder.replaceIn(text, isId.test(text) ? markInId : forgottenMark))
  }

  #mentionsBelief(value: unknown): boolean {
    if (this.#beliefIds.length === 0) return false
    let isFound = false
    mapStrings(value, (text) => {
      isFound ||= this.#beliefIds.some((id) => (id.length < minOwnIdLength ? text === id : text.includes(id)))
      return text
    })
    return isFound
  }
}

/** Shorter ids, which only imports have, may be part of any word, so they are found only if they are the whole text. */
const minOwnIdLength = 8

const isId = /^[\w.:-]+$/u

/** Finds many texts in one pass, by their first characters. */
class Finder {
  readonly #byStart = new Map<string, string[]>()
  readonly #startLength: number

  constructor(texts: readonly string[]) {
    const needles = new Set(
      texts.flatMap((text) => {
        const core = foldCase(text)
          .trim()
          .replace(/(?<![\s.,;:!?])[\s.,;:!?]+$/u, '')
        return [core, core.replace(/[^a-z0-9]+/gu, '-')].filter(
          (one) => one.replaceAll('-', '').length >= minErasedLength,
        )
      }),
    )
    this.#startLength = Math.min(8, ...[...needles].map(({ length }) => length))
    for (const needle of [...needles].sort((a, b) => b.length - a.length)) {
      const start = needle.slice(0, this.#startLength)
      this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), needle])
    }
  }

  replaceIn(text: string, mark: string): string {
    if (this.#byStart.size === 0 || text.length < this.#startLength) return text
    const lower = foldCase(text)
    let result = ''
    let kept = 0
    for (let at = 0; at + this.#startLength <= lower.length; at += 1) {
      const candidates = this.#byStart.get(lower.slice(at, at + this.#startLength))
      const found = candidates?.find((needle) => lower.startsWith(needle, at) && isWhole(lower, at, needle.length))
      if (found === undefined) continue
      result += text.slice(kept, at) + mark
      kept = at + found.length
      at = kept - 1
    }
    return kept === 0 ? text : result + text.slice(kept)
  }
}

const letter = /[\p{L}\p{N}]/u
const isLetter = (character: string | undefined): boolean => character !== undefined && letter.test(character)
/** Whether the span neither begins nor ends inside a word. */
const isWhole = (text: string, at: number, length: number): boolean =>
  !(isLetter(text[at - 1]) && isLetter(text[at])) && !(isLetter(text[at + length - 1]) && isLetter(text[at + length]))

/** Converts a text to lower case without changing its length, so that offsets stay valid. */
const foldCase = (text: string): string => {
  const lower = text.toLowerCase()
  if (lower.length === text.length) return lower
  return Array.from(text, (one) => (one.toLowerCase().length === one.length ? one.toLowerCase() : one)).join('')
}

/** Maps all strings in a JSON value, including keys. Returns the value itself if nothing changed. */
function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) {
    const mapped = value.map((item) => mapStrings(item, map))
    return mapped.some((item, index) => item !== value[index]) ? mapped : value
  }
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  const mapped = entries.map(([key, inner]) => [map(key), mapStrings(inner, map)] as const)
  const isSame = mapped.every(([key, inner], index) => key === entries[index]?.[0] && inner === entries[index]?.[1])
  return isSame ? value : Object.fromEntries(mapped)
}

const maxFileBytes = 256 * 1024 * 1024

/**
 * Erases forgotten texts in one file and returns whether it contained any. In JSON and JSON Lines each element of a list
 * and each line is a separate record; other files are plain text. Files that are not UTF-8 text are skipped.
 */
export async function eraseInFile(path: string, eraser: Eraser): Promise<boolean> {
  const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
  // Skips an empty file, because it may be a lock of this process, which opening and closing the file would release.
  if (size === 0 || size > maxFileBytes) return false
  const text = readText(path)
  if (text === null) return false
  const lines = text.split('\n')
  const isOfRecords = lines.some((line) => line.startsWith('{'))
  const erased =
    eraseDocument(text, eraser) ??
    (isOfRecords ? lines.map((line) => eraseLine(line, eraser)).join('\n') : eraser.eraseText(text))
  if (erased === text) return false
  return writeAtomically(path, erased, { existing: 'replace' })
}

function readText(path: string): string | null {
  try {
    const bytes = readFileSync(path)
    return bytes.includes(0) ? null : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return null
    throw error
  }
}

/** Erases forgotten texts in a JSON document. Null if the text is not one JSON document. */
function eraseDocument(text: string, eraser: Eraser): string | null {
  if (!eraser.mayChange(text)) return text
  const document = parseJson(text)
  if (document === undefined) return null
  const isList = Array.isArray(document)
  const records: readonly unknown[] = isList ? document : [document]
  const erasedRecords = records.map((record) => eraser.eraseValue(record))
  if (erasedRecords.every((record, index) => record === records[index])) return text
  const erased = isList ? erasedRecords : erasedRecords[0]
  const written = /\n\s/u.test(text) ? JSON.stringify(erased, null, 2) : JSON.stringify(erased)
  return text.endsWith('\n') ? `${written}\n` : written
}

function eraseLine(line: string, eraser: Eraser): string {
  if (!eraser.mayChange(line)) return line
  const record = parseJson(line)
  if (typeof record !== 'object' || record === null) return eraser.eraseText(line)
  const erased = eraser.eraseValue(record)
  return erased === record ? line : JSON.stringify(erased)
}

/** Every plain file below a directory. Does not follow links, and skips folders for which `enters` is false. */
export function* listFilesBelow(
  directory: string,
  enters: (folder: string) => boolean = () => true,
): Generator<string> {
  for (const entry of nullIfMissing(() => readdirSync(directory, { withFileTypes: true })) ?? []) {
    const path = join(directory, entry.name)
    if (entry.isFile()) yield path
    else if (entry.isDirectory() && enters(path)) yield* listFilesBelow(path, enters)
  }
}
