import { ask, isSignedIn } from '../api/client.ts'
import { sawEvent } from '../api/live.ts'
import { asRefusal, type Refusal } from '../api/refusal.ts'
import { health } from './memory-facts.ts'

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
    sawEvent(health.value.journalHead)
    isSignedIn.value = true
    return null
  } catch (error) {
    const refusal = asRefusal(error)
    isSignedIn.value = false
    return refusal.status === 401 ? null : refusal
  }
}
