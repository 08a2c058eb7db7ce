import { effect, signal } from '@preact/signals'
import type { RouteAnswer } from '../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask, asRefusal, isSignedIn, journalHead, type Refusal } from '../api/client.ts'

/** What every page may want to know about the memory; null until it is known. */
export const health = signal<RouteAnswer<'health'> | null>(null)
/** Whether the person owns the served directory, and not only a memory on this server. */
export const isInstallation = (): boolean => health.value?.isInstallation !== false
/** A command line as the person types it. */
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
  // Failed requests are repeated with the next change; the pages report failures themselves.
  const keep =
    <Value>(into: { value: Value | null }) =>
    (value: Value) => {
      if (!signal.aborted) into.value = value
    }
  ask('scopes', { signal }).then(keep(scopes), () => undefined)
  const known = health.peek()
  if (known?.journalHead === journalHead.peek()) {
    // Signing in has asked for it already.
    proposalCount.value = known.counts.proposals
    candidateCount.value = known.counts.candidates
    return () => controller.abort()
  }
  ask('health', { signal }).then(keep(health), () => undefined)
  // The server may take the counts of `health` from a moment ago; these are exact.
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

/** Exchanges the token that was in the address for a cookie that no script can read. */
export async function signIn(): Promise<Refusal | null> {
  const token = window.credenceStart?.token ?? null
  if (token !== null) {
    try {
      await ask('login', { body: { token } })
    } catch (error) {
      isSignedIn.value = false
      return asRefusal(error)
    }
  }
  return comeBack()
}

/** Whether the browser is let in as it is: with the cookie it may have, perhaps from another window. */
export async function comeBack(): Promise<Refusal | null> {
  try {
    // Known before the first page is drawn, so that nothing moves or is asked for twice when it comes.
    health.value = await ask('health')
    acknowledgeEvent(health.value.journalHead)
    isSignedIn.value = true
    return null
  } catch (error) {
    const refusal = asRefusal(error)
    isSignedIn.value = false
    return refusal.status === 401 ? null : refusal
  }
}
