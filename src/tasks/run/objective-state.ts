import { cp, lstat, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorMessage } from '../agent.ts'
import type { StateCheck } from '../parse/fields.ts'
import { findProgram, runInGroup } from './process-group.ts'

export type World = {
  readonly workspace: string
  readonly searchPath: string
  readonly temporary: string | undefined
  readonly signal: AbortSignal
}

/** One reading of a fact of the world. `holds` is null if the fact could not be read. */
export type ObservedFact = { readonly id: string; readonly holds: boolean | null; readonly observed: string }

const maxFileBytes = 16 * 1024 * 1024
const maxCommandMs = 60_000

/** Reads the declared facts. Commands run on a copy, so that a check does not change the agent's workspace. */
export async function observeFacts(checks: readonly StateCheck[], world: World): Promise<readonly ObservedFact[]> {
  const facts: ObservedFact[] = []
  for (const check of checks) {
    try {
      const fact = check.command === null ? await readFact(check, world) : await runFact(check, check.command, world)
      facts.push({ id: check.id, ...fact })
    } catch (error) {
      facts.push({ id: check.id, holds: null, observed: errorMessage(error) })
    }
  }
  return facts
}

type Reading = Omit<ObservedFact, 'id'>

async function readFact({ file, exists, contains, equals }: StateCheck, { workspace }: World): Promise<Reading> {
  const path = join(workspace, file ?? '')
  const found = await lstat(path).catch(() => null)
  if (found === null) return { holds: !exists, observed: `${file} does not exist` }
  if (!exists) return { holds: false, observed: `${file} exists` }
  if (!found.isFile() || found.size > maxFileBytes) return { holds: null, observed: `${file} is not a readable file` }
  const text = await readFile(path, 'utf8')
  const missing = contains.filter((part) => !text.includes(part))
  if (missing.length > 0) return { holds: false, observed: `${file} does not contain "${missing[0]}"` }
  const isEqual = equals === null || text.trimEnd() === equals.trimEnd()
  return { holds: isEqual, observed: isEqual ? `${file} is as declared` : `${file} has another content` }
}

async function runFact({ exitCode }: StateCheck, command: readonly string[], world: World): Promise<Reading> {
  const { workspace, searchPath, temporary = tmpdir(), signal } = world
  const [name = '', ...args] = command
  const program = await findProgram(name, searchPath)
  if (program === null) return { holds: null, observed: `The program "${name}" is not on the path.` }
  const copy = await mkdtemp(join(temporary, 'credence-state-'))
  try {
    await cp(workspace, copy, { recursive: true, verbatimSymlinks: true })
    const env = { PATH: searchPath, HOME: copy, TMPDIR: copy, LANG: 'C.UTF-8' }
    const limit = AbortSignal.any([signal, AbortSignal.timeout(maxCommandMs)])
    const ending = await runInGroup({ program, args, cwd: copy, env, signal: limit })
    const isLate = limit.aborted || ending.exceeded !== null
    if (isLate) return { holds: null, observed: `${name} was ended: it took too long or printed too much` }
    return { holds: ending.exitCode === exitCode, observed: `${name} ended with ${ending.exitCode ?? ending.killedBy}` }
  } finally {
    await rm(copy, { recursive: true, force: true, maxRetries: 3 })
  }
}
