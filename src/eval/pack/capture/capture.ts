import { existsSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Belief } from '../../../beliefs/belief.ts'
import { MemoryError } from '../../../errors.ts'
import { asJson } from '../../../files/atomic-write.ts'
import { leftoverName } from '../../../files/leftovers.ts'
import { takeLock } from '../../../files/lock.ts'
import type { Memory } from '../../../memory/memory.ts'
import { loadPack } from '../../kinds/retrieval/read-folder.ts'
import { runPack } from '../../kinds/retrieval/run-pack.ts'
import { manifestName, packPath, treePath } from '../../store/layout.ts'
import { parseJson, problemText } from '../../store/parse-artifact.ts'
import { readBounded } from '../../store/read-bounded.ts'
import type { Subject } from '../../system/subject.ts'
import { importPack } from '../import-pack.ts'
import { asIs, type CapturedCase, capturedCase } from './captured-case.ts'
import { copiedBeliefs, copiedId, neededBeliefs } from './needed-beliefs.ts'

/** The pack that captured cases go into. */
export const ownPack = 'my-cases'

export type CaptureRequest = {
  readonly message: string
  readonly scopes: readonly string[]
  /** Names, aliases or ids of beliefs. */
  readonly expect: readonly string[]
  readonly reject: readonly string[]
  /** Nothing but what is expected may be found. */
  readonly exactly: boolean
  /** Take the present answer for the right one. */
  readonly asIs: boolean
  readonly note: string | null
}

export type Captured = {
  readonly caseId: string
  readonly packDir: string
  readonly case: CapturedCase
  readonly beliefsCopied: number
  /** Whether recall does it right today. */
  readonly passesNow: boolean
  readonly failures: readonly string[]
  /** Whether the copy answers as the memory does; if not, why is worth knowing before relying on the case. */
  readonly isFaithful: boolean
}

/**
 * Makes a recall that was wrong, or right and precious, a case of the user's own pack, with the beliefs it needs copied
 * in. `subject` is asked the case at once, to show where it stands.
 */
export async function captureCase(
  memory: Memory,
  request: CaptureRequest,
  { root, subject }: { readonly root: string; readonly subject: Subject },
): Promise<Captured> {
  const { message, scopes, note } = request
  const context = await memory.recall(message, { scopes, nearMisses: true })
  const [expected, rejected] = [await allOf(memory, request.expect), await allOf(memory, request.reject)]
  const judged = request.asIs ? asIs(context) : { expected, rejected, exactly: request.exactly }
  const captured = capturedCase({ message, scopes: context.scopes, note, ...judged })
  const beliefs = await neededBeliefs(memory, context, [...judged.expected, ...judged.rejected])

  const packDir = packPath(root, ownPack)
  await mkdir(treePath(root, 'benchmarks'), { recursive: true, mode: 0o700 })
  const release = await takeLock(join(treePath(root, 'benchmarks'), `.${ownPack}.lock`), `The pack ${ownPack}`)
  const staged = join(treePath(root, 'benchmarks'), leftoverName('staged', ownPack))
  try {
    await mkdir(staged, { mode: 0o700 })
    await writeExtended(packDir, staged, captured, copiedBeliefs(beliefs, captured.caseId))
    const { pack } = loadPack(staged, { strict: false })
    if (pack.kind !== 'retrieval') throw new Error('A pack of captured cases is a retrieval pack.')
    const only = { ...pack, cases: pack.cases.filter(({ caseId }) => caseId === captured.caseId) }
    const [record] = (await runPack(only, subject)).records
    await importPack(root, staged, { force: true })
    const live = context.relevant.map(({ belief }) => copiedId(captured.caseId, belief.id))
    return {
      caseId: captured.caseId,
      packDir,
      case: captured,
      beliefsCopied: beliefs.length,
      passesNow: record?.entry.passed ?? false,
      failures: (record?.entry.failures ?? []).map((failure) => withNames(failure, captured.caseId, beliefs)),
      isFaithful: JSON.stringify(record?.answer?.relevant.map(({ id }) => id)) === JSON.stringify(live),
    }
  } finally {
    await rm(staged, { recursive: true, force: true })
    release()
  }
}

/** Ids of copies mean nothing to the person who named the beliefs. */
const withNames = (failure: string, caseId: string, beliefs: readonly Belief[]): string =>
  beliefs.reduce((text, { id, name }) => text.replaceAll(copiedId(caseId, id), `"${name}"`), failure)

async function allOf(memory: Memory, references: readonly string[]) {
  const beliefs = []
  for (const reference of references) beliefs.push(await memory.get(reference))
  return beliefs
}

/** Only what is added to; everything else in the files stays as it is. */
const PackManifest = z.looseObject({ cases: z.array(z.unknown()) })
const PackCases = z.array(z.looseObject({ caseId: z.string() }))

const newManifest = {
  schemaVersion: 1,
  benchmarkId: ownPack,
  title: 'Recalls that were wrong, or right and precious',
  tags: ['retrieval', 'captured'],
  runner: 'retrieval',
  files: { beliefs: 'beliefs.json', cases: 'cases.json' },
  recall: {},
  cases: [],
}

async function writeExtended(
  packDir: string,
  staged: string,
  captured: CapturedCase,
  beliefs: readonly object[],
): Promise<void> {
  const isNew = !existsSync(packDir)
  if (!isNew) await cp(packDir, staged, { recursive: true })
  const manifest = isNew ? newManifest : readShaped(PackManifest, join(packDir, manifestName))
  const cases = isNew ? [] : readShaped(PackCases, join(packDir, 'cases.json'))
  const known = isNew ? [] : readShaped(z.array(z.unknown()), join(packDir, 'beliefs.json'))
  if (cases.some(({ caseId }) => caseId === captured.caseId)) {
    throw new MemoryError('conflict', `The case ${captured.caseId} was captured before.`, {
      hint: `See it in ${join(packDir, 'cases.json')}.`,
    })
  }
  const listed = { id: captured.caseId, prompt: captured.query, expectedSignals: [captured.category] }
  const write = (name: string, document: object): Promise<void> =>
    writeFile(join(staged, name), asJson(document), { mode: 0o600 })
  await write(manifestName, { ...manifest, cases: [...manifest.cases, listed] })
  await write('cases.json', [...cases, captured])
  await write('beliefs.json', [...known, ...beliefs])
}

function readShaped<Value>(schema: z.ZodType<Value>, path: string): Value {
  const bytes = readBounded(path, path)
  const json = bytes.ok ? parseJson(bytes.value, path) : bytes
  const shaped = json.ok ? schema.safeParse(json.value) : null
  if (shaped?.success) return shaped.data
  const problem = json.ok ? `${path} does not have the form of a pack` : problemText(json.problems[0])
  throw new MemoryError('invalid', `The pack ${ownPack} cannot be added to. ${problem}.`, {
    hint: 'Repair the file, or move the pack away to begin a new one.',
  })
}
