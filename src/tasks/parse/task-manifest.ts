import { parseDocument } from 'yaml'
import { MemoryError } from '../../errors.ts'
import { readBounded } from '../../eval/store/read-bounded.ts'
import { isSafeId } from '../../eval/store/schemas/primitives.ts'
import { shown } from './problem.ts'

export const manifestNames = ['manifest.yaml', 'manifest.yml'] as const

export type ManifestEntry = { readonly id: string; readonly category: string | null }

const largestManifest = 1024 * 1024

/**
 * The tasks that a manifest lists, in the order in which they run: those of `run_first`, then category by category. The
 * older form is a flat list `tasks`. `core` names a part of them and adds none.
 */
export function readTaskManifest(file: string): readonly ManifestEntry[] {
  const manifest = readYaml(file)
  const { run_first: first, categories, tasks, core } = manifest
  const grouped = categories === undefined || categories === null ? [] : byCategory(file, categories)
  const flat = idsIn(file, 'tasks', tasks).map((id) => ({ id, category: null }))
  const all = [...grouped, ...flat]
  const early = idsIn(file, 'run_first', first)
  for (const id of idsIn(file, 'core', core)) {
    if (!all.some((entry) => entry.id === id) && !early.includes(id)) {
      throw invalid(file, `core names "${id}", which is not among the tasks`)
    }
  }
  const ordered = [
    ...early.map((id) => all.find((entry) => entry.id === id) ?? { id, category: null }),
    ...all.filter(({ id }) => !early.includes(id)),
  ]
  const repeated = ordered.find(({ id }, index) => ordered.findIndex((entry) => entry.id === id) !== index)
  if (repeated !== undefined) throw invalid(file, `"${repeated.id}" is there twice`)
  return ordered
}

function readYaml(file: string): Readonly<Record<string, unknown>> {
  const read = readBounded(file, file, largestManifest)
  if (!read.ok) throw invalid(file, read.problems[0].message)
  let value: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(read.value)
    const document = parseDocument(text, { schema: 'core', logLevel: 'error' })
    const [error] = document.errors
    if (error !== undefined) throw error
    value = document.toJS({ maxAliasCount: 10 })
  } catch (cause) {
    throw invalid(file, `it is not YAML: ${cause instanceof Error ? cause.message.split('\n')[0] : String(cause)}`)
  }
  // A flat list is the oldest form of all.
  if (Array.isArray(value)) return { tasks: value }
  if (value !== null && typeof value === 'object') return value as Readonly<Record<string, unknown>>
  throw invalid(file, `it is ${shown(value)} and not a mapping with tasks or categories`)
}

function byCategory(file: string, value: unknown): readonly ManifestEntry[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw invalid(file, `categories is ${shown(value)}; it must be a mapping of categories to lists of ids`)
  }
  return Object.entries(value).flatMap(([category, ids]) =>
    idsIn(file, `categories.${category}`, ids).map((id) => ({ id, category })),
  )
}

function idsIn(file: string, field: string, value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalid(file, `${field} is ${shown(value)}; it must be a list of ids`)
  return value.map((item, index) => {
    const id = typeof item === 'string' ? item.replace(/\.md$/u, '') : null
    if (id !== null && isSafeId(id)) return id
    throw invalid(file, `${field}[${index}] is ${shown(item)}; it must be the name of a task file`)
  })
}

const invalid = (file: string, message: string): MemoryError =>
  new MemoryError('invalid', `${file}: ${message}.`, { hint: 'A manifest lists task ids, or categories of them.' })
