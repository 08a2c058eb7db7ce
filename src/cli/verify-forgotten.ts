import { closeSync, openSync, readSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { ownPack } from '../eval/pack/capture.ts'
import { runPath, treePath } from '../eval/store/documents.ts'
import { readArtifact } from '../eval/store/parse-artifact.ts'
import { type ForgottenTexts, isIdentifying, listFilesBelow } from '../files/erase-texts.ts'
import type { Memory } from '../memory/memory.ts'

/** The result of searching the files for forgotten texts. */
export type Proof = ReturnType<typeof searchFiles>

/** Longer texts are searched for in parts, because a database may split them between pages. */
const maxPartLength = 64
/** Shorter texts are not searched for, because they are often found by coincidence. */
const minTextLength = 4
/** Shorter texts count only as whole words. */
const minLooseLength = 12
/** Imported packs and their runs never contained this memory, so shorter texts in them are coincidences. */
const minLengthInOthers = 16

/**
 * The texts to search for. Excludes names of one ordinary word, and texts that remaining beliefs or turns also
 * contain.
 */
export async function collectTexts(memory: Memory, { said, names }: ForgottenTexts) {
  const parts = new Set([...said, ...names.filter(isIdentifying)].flatMap(textParts))
  const all = [...parts]
  const others = new Set<string>()
  const drop = (id: string, texts: readonly string[]): void => {
    const lower = texts.map((text) => text.toLowerCase())
    for (const part of all)
      if (lower.some((text) => text.includes(part.toLowerCase()))) {
        parts.delete(part)
        others.add(id)
      }
  }
  for await (const { id, name, aliases, content, why, scopes } of memory.export())
    drop(id, [name, ...aliases, content, why, ...scopes])
  for await (const { id, text, session } of memory.exportTurns()) drop(id, [text, session])
  return {
    texts: [...parts],
    /** The number of texts that remaining beliefs or turns also contain, and in `others` their ids. */
    alsoSaidByOthers: all.length - parts.size,
    others: [...others],
  }
}

function textParts(text: string): readonly string[] {
  const core = text.trim().replace(/(?<![\s.,;:!?])[\s.,;:!?]+$/u, '')
  if (core.length < minTextLength) return []
  const parts: string[] = []
  for (let from = 0; from < core.length; from += maxPartLength)
    parts.push(core.slice(Math.max(0, Math.min(from, core.length - maxPartLength)), from + maxPartLength))
  // Drops half of a surrogate pair at an edge, which has no encoding.
  return parts.map((part) => part.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, ''))
}

/**
 * Searches every file of the directories for the texts, in UTF-8, JSON-escaped and in lower case. Databases are read as
 * bytes, including unused parts and logs, so this process must not have their stores open.
 */
export function searchFiles(
  { dir, evals }: { readonly dir: string; readonly evals: string },
  { texts, alsoSaidByOthers, others }: Awaited<ReturnType<typeof collectTexts>>,
  onProgress: (files: number) => void,
) {
  const needles = [...new Set(texts.flatMap(formsOf))].map((form) => ({ bytes: Buffer.from(form), size: form.length }))
  const found: { file: string; times: number }[] = []
  const isOthers = findOthersFiles(evals)
  let files = 0
  let bytes = 0
  const isInside = !relative(dir, evals).startsWith('..')
  for (const root of isInside ? [dir] : [dir, evals])
    for (const file of listFilesBelow(root)) {
      onProgress(files)
      const searched = isOthers(file) ? needles.filter(({ size }) => size >= minLengthInOthers) : needles
      const { size, times } = searchFile(file, searched)
      files += 1
      bytes += size
      if (times > 0) found.push({ file, times })
    }
  return { files, bytes, texts: texts.length, alsoSaidByOthers, others, found }
}

const formsOf = (text: string): readonly string[] =>
  [text, text.toLowerCase()].flatMap((form) => [form, JSON.stringify(form).slice(1, -1)])

type Needle = { readonly bytes: Buffer; readonly size: number }

const windowBytes = 8 * 1024 * 1024

/** The size of a file, and how often it contains a needle. */
function searchFile(file: string, needles: readonly Needle[]): { readonly size: number; readonly times: number } {
  const overlap = Math.max(0, ...needles.map(({ bytes }) => bytes.length)) + 1
  const window = Buffer.alloc(windowBytes + overlap)
  const descriptor = openSync(file, 'r')
  let size = 0
  let times = 0
  let kept = 0
  try {
    for (;;) {
      const read = readSync(descriptor, window, kept, windowBytes, null)
      if (read === 0) return { size, times }
      size += read
      const filled = window.subarray(0, kept + read)
      for (const needle of needles) times += countNeedle(filled, needle, kept)
      const next = Math.min(overlap, filled.length)
      filled.copyWithin(0, filled.length - next)
      kept = next
    }
  } finally {
    closeSync(descriptor)
  }
}

/** Counts the occurrences of a needle that end after byte `searched`, up to which the previous window was searched. */
function countNeedle(bytes: Buffer, { bytes: needle, size }: Needle, searched: number): number {
  let times = 0
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) {
    const end = at + needle.length
    const isWhole = !isWordByte(bytes[at - 1]) && !isWordByte(bytes[end])
    if (end > searched && (size >= minLooseLength || isWhole)) times += 1
  }
  return times
}

/** All non-ASCII bytes count as parts of words. */
const isWordByte = (byte: number | undefined): boolean =>
  byte !== undefined && (byte >= 0x80 || /[0-9A-Za-z]/u.test(String.fromCharCode(byte)))

/** Returns a function that reports whether a file belongs to an imported pack, or to a run of one. */
function findOthersFiles(evals: string): (file: string) => boolean {
  const packs = treePath(evals, 'benchmarks') + sep
  const runs = treePath(evals, 'runs') + sep
  const known = new Map<string, boolean>()
  const isOfOther = (runId: string): boolean => {
    const path = runPath(evals, runId)
    const run = readArtifact('run-summary', path, path)
    return run.ok && run.value.benchmarkId !== ownPack
  }
  return (file) => {
    if (file.startsWith(packs)) return !file.startsWith(join(packs, ownPack) + sep)
    if (!file.startsWith(runs)) return false
    const runId = (file.slice(runs.length).split(sep)[0] ?? '').replace(/\.json$/u, '')
    if (!known.has(runId)) known.set(runId, /^[\w.-]+$/u.test(runId) && !runId.includes('..') && isOfOther(runId))
    return known.get(runId) === true
  }
}
