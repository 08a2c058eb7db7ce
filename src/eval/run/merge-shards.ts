import { summaryOf } from '../score/figures.ts'
import { casesOf, openCaseLog } from '../store/case-log.ts'
import { createRun, readEnvironment, scan, writeEnvironment, writeRun } from '../store/documents.ts'
import type { CaseRecord, Environment, RunSummary } from '../store/schemas/run.ts'
import { sealOf, sealProblem } from '../store/seal.ts'
import { caseOrder } from './run.ts'

type FoundShard = {
  readonly root: string
  readonly run: RunSummary
  readonly environment: Environment
  readonly shard: NonNullable<Environment['shard']>
  readonly records: readonly CaseRecord[]
}

type Merged =
  | { readonly ok: true; readonly run: RunSummary; readonly shards: number }
  /** Why the shards cannot be merged, in sentences. */
  | { readonly ok: false; readonly problems: readonly string[] }

/** Joins shards into one run, equal to an unsharded one but for times and machine. After any problem nothing is written. */
export async function mergeShards(
  directories: readonly string[],
  { root, runId }: { readonly root: string; readonly runId: (runIds: readonly string[], first: RunSummary) => string },
): Promise<Merged> {
  const { shards, problems: unreadable } = await shardsIn(directories)
  const problems = [...unreadable, ...problemsOf(shards)]
  const [first] = shards
  if (first === undefined || problems.length > 0) {
    return { ok: false, problems: problems.length > 0 ? problems : ['There are no shards to merge.'] }
  }
  const runIds = shards.map(({ run }) => run.runId)
  return { ok: true, run: await writeMerged(shards, root, runId(runIds, first.run)), shards: shards.length }
}

async function shardsIn(directories: readonly string[]) {
  const shards: FoundShard[] = []
  const problems: string[] = []
  for (const root of directories) {
    const runs: RunSummary[] = []
    await scan(root, 'runs', ({ file, checked }) => {
      if (!checked.ok) problems.push(`${root}: ${file} is not valid: ${checked.problems[0].message}.`)
      else if (checked.value.shard !== undefined) runs.push(checked.value)
    })
    if (runs.length === 0) problems.push(`${root} holds no shard.`)
    for (const run of runs) {
      const environment = readEnvironment(root, run.runId)
      const { records, problems: broken } = await casesOf(root, run.runId)
      if (!environment?.ok || environment.value.shard === undefined)
        problems.push(`${root}: the run ${run.runId} does not say which cases its shard has.`)
      else if (broken.length > 0) problems.push(`${root}: ${broken[0]?.file} ${broken[0]?.message}.`)
      else shards.push({ root, run, environment: environment.value, shard: environment.value.shard, records })
    }
  }
  return { shards: shards.sort((one, other) => one.shard.index - other.shard.index), problems }
}

const identityOf = ({ run, shard, environment }: FoundShard): Readonly<Record<string, unknown>> => ({
  benchmark: run.benchmarkId,
  'pack hash': run.packHash,
  system: run.system?.name,
  'version of the system': run.system?.version,
  seed: run.seed,
  repeats: run.repeats,
  filter: run.filter,
  commit: environment.git?.commit,
  'number of shards': shard.count,
})

function problemsOf(shards: readonly FoundShard[]): readonly string[] {
  const [first] = shards
  if (first === undefined) return []
  const nameOf = ({ root, run, shard }: FoundShard): string => `${run.runId} in ${root} (${shard.index}/${shard.count})`
  const foreign = shards.flatMap((shard) => {
    const [own, expected] = [identityOf(shard), identityOf(first)]
    return Object.keys(own)
      .filter((name) => own[name] !== expected[name])
      .map((name) => `${nameOf(shard)} is of another run: its ${name} is ${own[name]}, not ${expected[name]}.`)
  })
  if (foreign.length > 0) return foreign
  const held = shards.map(({ shard }) => shard.index)
  const missing = Array.from({ length: first.shard.count }, (_, position) => position + 1).filter(
    (index) => !held.includes(index),
  )
  const faults = shards.flatMap((found, position) => {
    const { root, run, environment, shard, records } = found
    const isCompleted = run.status === 'completed'
    const all: readonly (readonly [isFault: boolean, words: string])[] = [
      [held.indexOf(shard.index) !== position, 'is there twice.'],
      [!isCompleted, `is ${run.status}, not completed.`],
      [records.length !== shard.caseIds.length * (run.repeats ?? 1), 'has lost records of its cases.'],
      // The merged run is sealed anew. That must not hide the broken seal of a shard.
      [
        isCompleted && sealProblem(root, run, environment) !== null,
        'was changed after the run: its seal does not fit.',
      ],
    ]
    return all.filter(([isFault]) => isFault).map(([, words]) => `${nameOf(found)} ${words}`)
  })
  return [...missing.map((index) => `Shard ${index}/${first.shard.count} is missing.`), ...faults]
}

async function writeMerged(shards: readonly FoundShard[], root: string, runId: string): Promise<RunSummary> {
  const [first] = shards as [FoundShard]
  const { shard: _shard, ...begun } = first.run
  const startedAt = shards.map(({ run }) => run.startedAt).sort()[0] ?? begun.startedAt
  const completedAt =
    shards
      .map(({ run }) => run.completedAt ?? run.startedAt)
      .sort()
      .at(-1) ?? startedAt
  const totalCases = shards.reduce((sum, { run }) => sum + run.totalCases, 0)
  const run: RunSummary = { ...begun, runId, startedAt, totalCases, passedCases: 0, failedCases: 0 }
  for (const count of ['errorCases', 'skippedCases', 'unjudgedCases', 'flakyCases'] as const) delete run[count]
  await createRun(root, { ...run, status: 'running', pendingCases: totalCases })
  await writeEnvironment(root, { ...environmentOf(shards), runId, recordedAt: startedAt })
  const log = await openCaseLog(root, runId)
  const records = inRunOrder(shards)
  for (const record of records) log.append(record)
  await log.close()
  const ingested = shards.flatMap(({ run: part }) => part.latency?.ingestMs ?? [])
  const summary = summaryOf(run, records, {
    at: new Date(completedAt),
    isInterrupted: false,
    failure: null,
    ingestMs: ingested.length === 0 ? null : Math.max(...ingested),
  })
  const sealed = { ...summary, seal: sealOf(root, summary) }
  await writeRun(root, sealed)
  return sealed
}

/** The environment of the unsharded run, unclean where that of any shard is. */
function environmentOf(shards: readonly FoundShard[]): Environment {
  const [{ environment }] = shards as [FoundShard]
  const { shard: _shard, given, settings, git, ...rest } = environment
  const without = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => name !== 'shard'))
  const dirty = shards.some((one) => one.environment.git?.dirty === true)
  return { ...rest, given: without(given), settings: without(settings), git: git && { ...git, dirty } }
}

/** A shard has every nth case of the pack, so the position of each case in the whole run is known. */
function inRunOrder(shards: readonly FoundShard[]): readonly CaseRecord[] {
  const [{ run, shard }] = shards as [FoundShard]
  const whole: string[] = []
  for (const one of shards) {
    for (const [position, id] of one.shard.caseIds.entries()) whole[position * shard.count + one.shard.index - 1] = id
  }
  const records = new Map(
    shards.flatMap((one) => one.records.map((record) => [`${record.repeat} ${record.caseId}`, record])),
  )
  const { repeats = 1, seed = 0 } = run
  return Array.from({ length: repeats }, (_, repeat) =>
    caseOrder(whole, { isShuffled: shard.isShuffled, seed: seed + repeat }).flatMap(
      (id) => records.get(`${repeat} ${id}`) ?? [],
    ),
  ).flat()
}
