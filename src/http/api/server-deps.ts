import type { z } from 'zod'
import type { Belief } from '../../beliefs/belief.ts'
import type { BeliefStore } from '../../beliefs/belief-store.ts'
import type { StoreCare, StoreFinding } from '../../beliefs/store-care.ts'
import { type MemoryError, notFound } from '../../errors.ts'
import type { SystemUnderTest } from '../../eval/system/subject.ts'
import type { Memory } from '../../memory/memory.ts'
import type { AccessPorts, Principal } from '../../memory/people/access.ts'
import type { Ports } from '../../memory/ports.ts'
import type { Caller, Channel } from '../authentication.ts'
import type { RouteAnswer, RouteName, Routes } from './contract.ts'
import type { DeepReadonly } from './route.ts'

/** Reads the state of MEMORY.md and brings it up to date. */
export type MirrorControl = { status(): Promise<RouteAnswer<'mirror'>>; sync(): Promise<RouteAnswer<'mirror'>> }

export type TaskEvidence = RouteAnswer<'case'>['work'][number]

type ListHosts = () => RouteAnswer<'hosts'>['items']

/** Work that runs in a process of its own, because it would block this one. */
export type BackgroundWork = {
  doctor(): Promise<{ readonly ok: boolean; readonly findings: readonly StoreFinding[] }>
  /** How far a check under way has come; null when there is none, or it has not said yet. */
  checking(): RouteAnswer<'doctorProgress'>['progress']
  startRun(pack: string): Promise<{ readonly runId: string }>
  running(): string | null
}

export type ServerDeps = {
  readonly version: string
  readonly dir: string
  readonly user: string
  /** Active in requests that name no scopes. */
  readonly scopes: readonly string[]
  /** Where new beliefs and turns go. */
  readonly homeScopes: readonly string[]
  readonly isDemo: boolean
  /** What a person types to start Credence. */
  readonly command: string
  /** Agents may name no scope but those in view. */
  readonly hasFixedScopes: boolean
  /** False for people with a token of the store: MEMORY.md and the eval store of the directory are not theirs. */
  readonly isInstallation: boolean
  readonly access: () => Promise<AccessPorts>
  /** The same dependencies for the holder of a token, or for a team as that holder uses it. */
  readonly forPrincipal: (principal: Principal, team?: string) => ServerDeps
  /** The memory, with the author that each channel writes as. */
  readonly memories: Readonly<Record<Channel, Memory>>
  /** For reading by exact id. */
  readonly store: Pick<BeliefStore, 'get' | 'getMany' | 'history' | 'proposalsFor'> & Pick<StoreCare, 'head'>
  /** For what only the dashboard asks of a memory: links, counts and growth. */
  readonly ports: Ports
  readonly storeFile: () => { readonly file: string; readonly bytes: number; readonly logBytes: number }
  readonly mirror: MirrorControl
  /** Takes in edits of MEMORY.md before a request is handled. Costs one `stat` of the file. */
  readonly catchUp: () => Promise<void>
  readonly evalRoot: string
  readonly shippedPacks: string
  readonly isRecordingShadows: boolean
  /** Opens the system that a captured case is tried on at once. */
  readonly openSubject: () => Promise<SystemUnderTest>
  readonly background: BackgroundWork
  readonly hosts: ListHosts
  /** The sessions and checks of a task in one repeat of a run; null when they were not kept. */
  readonly taskWork: (runId: string, taskId: string, repeat: number) => Promise<TaskEvidence | null>
  readonly now: () => Date
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number
}

/** Optional properties are absent, never undefined: JSON has no undefined. */
type NoUndefined<Value> = Value extends readonly (infer Item)[]
  ? readonly NoUndefined<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: NoUndefined<Exclude<Value[Name], undefined>> }
    : Value

/** A request that is authenticated and valid. */
export type ApiRequest<Name extends RouteName> = {
  readonly params: NoUndefined<z.output<Routes[Name]['params']>>
  readonly query: NoUndefined<z.output<Routes[Name]['query']>>
  readonly body: Routes[Name]['body'] extends z.ZodType ? NoUndefined<z.output<Routes[Name]['body']>> : null
  /** The memory, with the author of the request's channel. */
  readonly memory: Memory
  readonly caller: Caller
  /** The Idempotency-Key of a change, if there is one. */
  readonly idempotency: { readonly key?: string }
}

/** Logging in and out and the stream of events do not use a memory; `api-app.ts` handles them. */
type HandledRoute = Exclude<RouteName, 'login' | 'logout' | 'events'>

export type Handlers<Names extends RouteName = HandledRoute> = {
  readonly [Name in Names]: (request: ApiRequest<Name>) => Promise<DeepReadonly<z.input<Routes[Name]['answer']>>>
}

/** Reads a belief by its whole id. Names and prefixes of ids are for people: a program must never hit another belief. */
export async function beliefById({ store, user }: ServerDeps, id: string): Promise<Belief> {
  const belief = await store.get(user, id)
  if (belief !== null) return belief
  throw noBelief(id)
}

export const noBelief = (id: string): MemoryError =>
  notFound(`There is no belief with the id "${id}".`, 'It may have been forgotten. GET beliefs lists all beliefs.')

/** Calls `make` again only when the key has changed. Concurrent callers share one call; a failure is not cached. */
export function cachedByKey<Key, Result>(make: (key: Key) => Promise<Result>): (key: Key) => Promise<Result> {
  let last: { readonly key: Key; readonly result: Promise<Result> } | null = null
  return (key) => {
    if (last?.key === key) return last.result
    const made = { key, result: make(key) }
    last = made
    made.result.catch(() => {
      if (last === made) last = null
    })
    return made.result
  }
}

/** The same for `ttlMs`. */
export function cached<Result>(
  make: () => Promise<Result>,
  { clock, ttlMs }: { readonly clock: () => number; readonly ttlMs: number },
): () => Promise<Result> {
  const last = cachedByKey<number, Result>(make)
  let since = Number.NEGATIVE_INFINITY
  return () => {
    if (clock() - since >= ttlMs) since = clock()
    return last(since)
  }
}

/** The same until the memory changes. */
export function cachedUntilChange<Result>({ store }: Pick<ServerDeps, 'store'>, make: () => Promise<Result>) {
  const last = cachedByKey<number, Result>(make)
  return async (): Promise<Result> => last((await store.head()).number)
}
