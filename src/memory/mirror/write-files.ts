import { rmSync } from 'node:fs'
import { syncDirectoryNow } from '../../files/sync-directory.ts'
import type { ItemSegment } from './document.ts'
import { bytesHash } from './live-file.ts'
import type { MirrorFiles, OpenFile } from './mirror-files.ts'
import { type Imprint, saveImprint, saveOutside } from './state.ts'
import { draftName, lineHash, swapIn, writeDraft } from './swap.ts'

/** What the store says an item says, as a hash; null for a line that is not to count as known. */
export type BaseOf = (segment: ItemSegment) => string | null

type Writing = { readonly now: () => Date; readonly baseOf: BaseOf }

/** So many files are on their way to the disk at once: waiting for each of them alone would take several times as long. */
const batchSize = 32

/** Writes every file whose text is no longer what is on the disk. Returns their names. */
export async function writeFiles(files: MirrorFiles, { now, baseOf }: Writing): Promise<readonly string[]> {
  const open = files.all()
  const changed = open.filter(
    ({ document, live, mustWrite }) => mustWrite || live === null || document.render() !== live.text,
  )
  const generation = nextGeneration(files)
  for (let from = 0; from < changed.length; from += batchSize) {
    await writeBatch(files, changed.slice(from, from + batchSize), { now, baseOf, generation })
  }
  if (changed.length > 0) files.state.generation = generation
  const written = new Set(changed)
  for (const file of open)
    if (!written.has(file) && file.live !== null) await note(files, file, file.live.bytes, file.live.signature)
  return changed.map(({ name }) => name)
}

async function writeBatch(
  files: MirrorFiles,
  batch: readonly OpenFile[],
  { now, baseOf, generation }: Writing & { readonly generation: number },
): Promise<void> {
  const { places, state, where } = files
  for (const { document } of batch) document.setGeneration(generation)
  const drafts = batch.map((file) => ({ file, content: file.document.render(), draft: draftName(places, file.name) }))
  try {
    await Promise.all(
      drafts.map(({ file, content, draft }) => writeDraft(draft, { content, mode: file.live?.mode ?? 0o600 })),
    )
    for (const { file, content, draft } of drafts) {
      const { name, scope, document, live } = file
      if (scope !== null && file.isEdited)
        for (const { item } of document.items()) if (item.id !== null) await where.set(item.id, name)
      const items = new Map(
        document.items().flatMap((segment) => {
          const hash = segment.item.id === null ? null : baseOf(segment)
          return hash === null ? [] : [[segment.item.id as string, hash]]
        }),
      )
      const lines = document.outsideLines().map((line) => lineHash(state.key, line))
      saveImprint(places, name, { generation, items, lines } satisfies Imprint)
      const { signature } = swapIn(places, {
        key: state.key,
        file: name,
        expected: live?.bytes ?? null,
        draft,
        bytes: Buffer.byteLength(content),
        now,
      })
      await note(files, file, Buffer.from(content), signature)
    }
    // Once for all of them: until it returns, nobody has been told that they are written.
    syncDirectoryNow(places.dir)
  } finally {
    for (const { draft } of drafts) rmSync(draft, { force: true })
  }
}

function nextGeneration(files: MirrorFiles): number {
  const written = files.all().map(({ document }) => document.generation() ?? 0)
  return Math.max(files.state.generation, ...written.filter((one) => one < Number.MAX_SAFE_INTEGER / 2)) + 1
}

/** Writes down what a file is now, so that it can be told whether somebody changed it. */
async function note(
  { places, state }: MirrorFiles,
  { name, scope, document }: OpenFile,
  bytes: Buffer,
  signature: string,
): Promise<void> {
  const lines = document.outsideLines()
  const outside = bytesHash(state.key, Buffer.from(lines.join('\n')))
  if (state.files[name]?.outside !== outside) await saveOutside(places, name, lines)
  state.files[name] = {
    scope,
    signature,
    hash: bytesHash(state.key, bytes),
    items: document.items().filter(({ item }) => item.id !== null).length,
    bytes: bytes.length,
    outside,
  }
}
