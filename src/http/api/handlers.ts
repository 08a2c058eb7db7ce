import type { z } from 'zod'
import type { BeliefStore } from '../../beliefs/belief-store.ts'
import type { Finding, StoreCare } from '../../beliefs/store-care.ts'
import type { Subject } from '../../eval/system/subject.ts'
import type { Memory } from '../../memory/memory.ts'
import type { Channel } from '../credentials.ts'
import type { Answer, RouteName, Routes } from './contract.ts'
import type { DeepReadonly } from './route.ts'

/** How MEMORY.md is looked after; made elsewhere. */
export type MirrorDesk = { status(): Promise<Answer<'mirror'>>; sync(): Promise<Answer<'mirror'>> }

/** What needs a process of its own, because it would keep this one from answering. */
export type BackgroundWork = {
  doctor(): Promise<{ readonly ok: boolean; readonly findings: readonly Finding[] }>
  /** Starts a run and says what it is called. */
  startRun(pack: string): Promise<{ readonly runId: string }>
  /** The pack that is being run. */
  running(): string | null
}

/** Everything the handlers work with. */
export type Desk = {
  readonly version: string
  readonly dir: string
  readonly user: string
  /** Active where a request names none. */
  readonly scopes: readonly string[]
  /** Where something new goes. */
  readonly homeScopes: readonly string[]
  readonly isDemo: boolean
  /** The memory from the standpoint of each door. */
  readonly memories: Readonly<Record<Channel, Memory>>
  /** For looking things up by id alone. */
  readonly store: Pick<BeliefStore, 'get' | 'getMany' | 'history' | 'proposalsFor'> & Pick<StoreCare, 'head'>
  readonly storeFile: () => { readonly file: string; readonly bytes: number; readonly logBytes: number }
  readonly mirror: MirrorDesk
  /** Takes in what somebody wrote into MEMORY.md, before anything is read. Costs one look at the file. */
  readonly catchUp: () => Promise<void>
  readonly evalRoot: string
  readonly shippedPacks: string
  readonly isRecordingShadows: boolean
  /** Answers captured cases at once, to show where they stand. */
  readonly openSubject: () => Promise<Subject>
  readonly background: BackgroundWork
  readonly now: () => Date
  /** Milliseconds that only ever grow. */
  readonly clock: () => number
}

/** Optional parts are absent or there, never undefined: JSON has no such thing. */
export type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Given<Exclude<Value[Name], undefined>> }
    : Value

/** A request that was let in and read. */
export type Asked<Name extends RouteName> = {
  readonly params: Given<z.output<Routes[Name]['params']>>
  readonly query: Given<z.output<Routes[Name]['query']>>
  readonly body: Routes[Name]['body'] extends z.ZodType ? Given<z.output<Routes[Name]['body']>> : null
  /** From the standpoint of whoever asks. */
  readonly memory: Memory
  /** For changes: a retry with the same key has one effect. */
  readonly keyed: { readonly key?: string }
}

/** Logging in and out and the stream of events are not about a memory; they have their own places. */
export type HandledRoute = Exclude<RouteName, 'login' | 'logout' | 'events'>

export type Handler<Name extends RouteName> = (
  asked: Asked<Name>,
) => Promise<DeepReadonly<z.input<Routes[Name]['answer']>>>

export type Handlers<Names extends RouteName = HandledRoute> = { readonly [Name in Names]: Handler<Name> }
