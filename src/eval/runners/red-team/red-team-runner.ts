import { MemoryError } from '../../../errors.ts'
import type { CaseOutcome } from '../../run/run.ts'
import { brokenOutcome, defineRunner, executeInOrder, type PackPlace, type Runner } from '../runner.ts'
import { refuseEverything } from './controls.ts'
import { judgeRedTeam, prohibitedOutputs } from './judge-red-team.ts'
import { type AttackAsk, type AttackStep, defaultUser, type RedTeamCase, readRedTeamCases } from './red-team-case.ts'

/** A stored statement, with the fields that attacks are about. */
export type Kept = {
  readonly id: string
  readonly user: string
  readonly name: string
  readonly aliases: readonly string[]
  readonly content: string
  readonly why: string
  readonly scopes: readonly string[]
  readonly pinned: boolean
  readonly status: string
  readonly confidence: number
  /** `waiting`: a proposal or a candidate. `retired`: stored as history only. */
  readonly state: 'current' | 'waiting' | 'retired'
  readonly isPersons: boolean
  readonly createdAt: string
}

/** A memory under attack, and its interfaces. Every case gets a separate memory. */
export type Target = {
  /** Carries out a step. Returns the interface's answer, which may be a refusal. */
  readonly take: (step: AttackStep) => Promise<string>
  readonly kept: (user: string) => Promise<readonly Kept[]>
  readonly context: (ask: AttackAsk) => Promise<string>
  readonly search: (ask: AttackAsk) => Promise<readonly string[]>
  /** The texts that each of the person's reading surfaces returns, by the name of the surface. */
  readonly surfaces: (ask: AttackAsk) => Promise<Readonly<Record<string, string>>>
  /** Closes the memory, and returns everything that it wrote to the disk. */
  readonly end: () => Promise<readonly Uint8Array[]>
}

export type TargetSystem = { readonly name: string; readonly open: () => Promise<Target> }

export type RedTeamOptions = {
  readonly open: (system: string) => Promise<TargetSystem>
  readonly version: string
  readonly clock: () => number
}

/** The runner for packs that attack a memory through its interfaces. A benign case looks like an attack, but the memory must keep it. */
export const redTeamRunner = (options: RedTeamOptions): Runner =>
  defineRunner({
    name: 'red-team',
    defaultSystem: 'credence',
    read: readContent,
    open: async (system) => ({ ...(await options.open(system)), version: options.version, close: async () => {} }),
    ablate: { 'doors closed': (tested) => ({ ...tested, open: refuseEverything(tested.open) }) },
    execute: ({ redTeam }, { open }, request) => {
      const wanted = redTeam.filter(({ caseId }) => request.wanted.has(caseId))
      return executeInOrder(wanted, request, (redTeamCase) => runCase(redTeamCase, open, options))
    },
  })

function readContent(place: PackPlace) {
  const redTeam = readRedTeamCases(place)
  const cases = redTeam.map(({ caseId, about, kind }) => ({
    id: caseId,
    prompt: about,
    expectsSomething: kind === 'benign',
    words: [kind],
  }))
  const replacesCases = cases.length > place.manifest.cases.length
  return { redTeam, cases, replacesCases, warnings: [], isShuffled: false }
}

async function runCase(one: RedTeamCase, open: TargetSystem['open'], { clock }: RedTeamOptions): Promise<CaseOutcome> {
  const { caseId, kind, setup, steps, ask } = one
  const users = [...new Set([defaultUser, ask.user, ...[...setup, ...steps].map(userOf), 'u2'])]
  const target = await open()
  const kept = async (): Promise<readonly Kept[]> => (await Promise.all(users.map((user) => target.kept(user)))).flat()
  let isOpen = true
  try {
    const began = clock()
    for (const step of setup) await executeStep(target, step, kept)
    const before = await kept()
    const isReadEverywhere = 'surfacesLack' in one.expect || 'surfacesHave' in one.expect
    const surfacesNow = async (): Promise<Readonly<Record<string, string>>> =>
      isReadEverywhere ? target.surfaces(ask) : {}
    const surfacesBefore = await surfacesNow()
    const answers: { readonly step: AttackStep; readonly answer: string }[] = []
    for (const step of steps) answers.push(...(await executeStep(target, step, kept)))
    const context = await target.context(ask)
    const words = (one.kind === 'benign' && one.expect.turnWith) || []
    const found: string[] = []
    for (const message of words.length === 0 ? [] : [ask.message, ...words])
      found.push(...(await target.search({ ...ask, message })))
    const after = await kept()
    const surfaces = Object.entries(await surfacesNow()).map(([name, text]) => ({
      name,
      before: surfacesBefore[name] ?? '',
      after: text,
    }))
    isOpen = false
    const disk = await target.end()
    const timings = { attack: clock() - began }
    const observed = { before, after, answers, context, found, disk, surfaces }
    const { failures, recalled } = judgeRedTeam(one, observed)
    const score = failures.length === 0 ? 0 : 1
    return {
      caseId,
      verdict: score === 0 ? 'pass' : 'fail',
      scores:
        one.kind === 'attack'
          ? {
              attackSuccessRate: score,
              prohibitedOutputs: one.expect.surfacesLack === undefined ? null : prohibitedOutputs(one.expect, observed),
            }
          : { benignLoss: score, reinstated: one.expect.surfacesHave === undefined ? null : 1 - score },
      returned: [],
      failures: [...failures],
      timings,
      explanation: { kind, recalled, context, answers: answers.slice(-5).map(({ answer }) => answer.slice(0, 500)) },
    }
  } catch (error) {
    // A memory that breaks under attack fails only this case; the other cases continue.
    const message = error instanceof Error ? error.message : String(error)
    return brokenOutcome(caseId, { class: error instanceof MemoryError ? 'door' : 'bug', message })
  } finally {
    if (isOpen) await target.end()
  }
}

export const userOf = ({ user = defaultUser }: AttackStep): string => user

async function executeStep(target: Target, { repeat = 1, ...step }: AttackStep, kept: () => Promise<readonly Kept[]>) {
  const answers: { readonly step: AttackStep; readonly answer: string }[] = []
  for (let i = 1; i <= repeat; i += 1) {
    const filled = await fillPlaceholders(step as AttackStep, i, kept)
    answers.push({ step: filled, answer: await target.take(filled) })
  }
  return answers
}

/** The step with its placeholders replaced. An unknown name is left as it is, so that the memory rejects it. */
async function fillPlaceholders(
  step: AttackStep,
  i: number,
  kept: () => Promise<readonly Kept[]>,
): Promise<AttackStep> {
  const written = JSON.stringify(step).replaceAll('{i}', String(i))
  if (!/\{(?:proposal|belief:)/u.test(written)) return JSON.parse(written)
  const all = await kept()
  const newest = all
    .filter(({ state }) => state === 'waiting')
    .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0]
  const idOf = (whole: string, name: string): string => {
    const called = all.filter((belief) => belief.name.toLowerCase() === name.toLowerCase())
    return (called.find(({ state }) => state === 'current') ?? called[0])?.id ?? whole
  }
  return JSON.parse(
    written.replaceAll('{proposal}', newest?.id ?? '{proposal}').replaceAll(/\{belief:([^{}"]+)\}/gu, idOf),
  )
}
