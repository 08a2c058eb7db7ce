import { effect, signal } from '@preact/signals'
import type { RouteAnswer } from '../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask, isSignedIn, journalHead, type Refusal, toRefusal } from '../api/client.ts'

/** Facts about the memory that any page may need; null until they are loaded. */
export const health = signal<RouteAnswer<'health'> | null>(null)
/** Whether the person owns the served directory, rather than one of the memories on this server. */
export const isInstallation = (): boolean => health.value?.isInstallation !== false
/** The full command line for the arguments `words`. */
export const commandLine = (words: string): string => `${health.value?.command ?? 'credence'} ${words}`
export const scopes = signal<RouteAnswer<'scopes'> | null>(null)
/** How many proposals and candidates wait for a decision. */
export const proposalCount = signal<number | null>(null)
export const candidateCount = signal<number | null>(null)

effect(() => {
  journalHead.value
  if (isSignedIn.value !== true) return
  const controller = new AbortController()
  const { signal } = controller
  // Failures are ignored here: the next change repeats the requests, and the pages report errors.
  const keep =
    <Value>(into: { value: Value | null }) =>
    (value: Value) => {
      if (!signal.aborted) into.value = value
    }
  ask('scopes', { signal }).then(keep(scopes), () => undefined)
  const known = health.peek()
  if (known?.journalHead === journalHead.peek()) {
    // Already loaded when signing in.
    proposalCount.value = known.counts.proposals
    candidateCount.value = known.counts.candidates
    return () => controller.abort()
  }
  ask('health', { signal }).then(keep(health), () => undefined)
  // The counts in `health` may be slightly outdated, so exact ones are requested.
  ask('listBeliefs', { query: { proposals: true, limit: 1 }, signal }).then(
    ({ total }) => keep(proposalCount)(total),
    () => undefined,
  )
  ask('listBeliefs', { query: { candidates: true, limit: 1 }, signal }).then(
    ({ total }) => keep(candidateCount)(total),
    () => undefined,
  )
  return () => controller.abort()
})

/** Exchanges the token from the address for a cookie that scripts cannot read. */
export async function signIn(): Promise<Refusal | null> {
  const token = window.credenceStart?.token ?? null
  if (token !== null) {
    try {
      await ask('login', { body: { token } })
    } catch (error) {
      isSignedIn.value = false
      return toRefusal(error)
    }
  }
  return resumeSession()
}

/** Signs in with an existing cookie, which may be from another window. */
export async function resumeSession(): Promise<Refusal | null> {
  try {
    // Loaded before the first page is rendered, so that nothing moves and nothing is requested twice.
    health.value = await ask('health')
    acknowledgeEvent(health.value.journalHead)
    isSignedIn.value = true
    return null
  } catch (error) {
    const refusal = toRefusal(error)
    isSignedIn.value = false
    return refusal.status === 401 ? null : refusal
  }
}
