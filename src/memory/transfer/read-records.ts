import { parseScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import type { Ports } from '../change/transaction.ts'
import { type BeliefRecord, parseRecord } from './belief-record.ts'

/** A belief read from a file, and where in the file it stood. */
export type PlacedRecord = { readonly place: string; readonly record: BeliefRecord }

export type ReadRequest = {
  readonly text: string
  readonly source: string
  readonly user: string
  readonly scopes: readonly string[]
}

/** Reads a JSON array of beliefs, one belief, or JSON Lines, in our spelling or the other. */
export function readRecords(
  { now, newId }: Pick<Ports, 'now' | 'newId'>,
  { text, source, user, scopes }: ReadRequest,
): { readonly records: readonly PlacedRecord[]; readonly warnings: readonly string[] } {
  const at = now().toISOString()
  const defaults = { user, scopes: parseScopes(scopes), origin: source, at, newId }
  const warnings: string[] = []
  const places = new Map<string, string>()
  const records = valuesIn(text.replace(/^\ufeff/u, ''), source).map(({ place, value }) => {
    const { record, unknown } = located(place, () => parseRecord(value, defaults))
    if (record.scopes.length === 0)
      throw new MemoryError('invalid', `${place}: the belief has no scope.`, {
        hint: 'Give it one, or import with --scope.',
      })
    if (unknown.length > 0)
      warnings.push(`${place}: ignored unknown field${unknown.length > 1 ? 's' : ''} ${unknown.join(', ')}.`)
    const earlier = places.get(`${record.user}\n${record.id}`)
    if (earlier !== undefined)
      throw new MemoryError('invalid', `${place}: the id "${record.id}" was used before, at ${earlier}.`, {
        hint: 'Every belief needs an id of its own.',
      })
    places.set(`${record.user}\n${record.id}`, place)
    return { place, record }
  })
  return { records, warnings }
}

function valuesIn(text: string, source: string): readonly { place: string; value: unknown }[] {
  if (text.trim() === '')
    throw new MemoryError('invalid', `${source} is empty.`, { hint: 'Give a JSON array of beliefs or JSON Lines.' })
  if (text.trimStart().startsWith('[')) {
    const value = parseJson(text, source)
    return (value as unknown[]).map((item, index) => ({ place: `${source}, item ${index + 1}`, value: item }))
  }
  const lines = text
    .split(/\r?\n/u)
    .map((line, index) => ({ line, place: `${source}, line ${index + 1}` }))
    .filter(({ line }) => line.trim() !== '')
  // Lines of which none can stand alone are one belief written over several.
  if (lines.length > 1 && !lines.some(({ line }) => isJsonObject(line)))
    return [{ place: source, value: parseJson(text, source) }]
  return lines.map(({ line, place }) => ({ place, value: parseJson(line, place) }))
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MemoryError('invalid', `${place}: not JSON (${(cause as Error).message}).`, {
      hint: 'Give a JSON array of beliefs, or one belief a line.',
      cause,
    })
  }
}

function isJsonObject(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Says where in the file an error lies. */
function located<Value>(place: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    throw new MemoryError(error.code, `${place}: ${error.message}`, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      cause: error,
    })
  }
}
