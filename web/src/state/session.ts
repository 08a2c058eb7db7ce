import { ask, isSignedIn } from '../api/client.ts'
import { asRefusal, type Refusal } from '../api/refusal.ts'

/**
 * Takes the token out of the address before anything else, so that it stays in no history and on no screenshot, and
 * exchanges it for a cookie that no script can read.
 */
export async function signIn(): Promise<Refusal | null> {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token')
  if (token !== null) {
    window.history.replaceState(null, '', window.location.pathname + window.location.search)
    try {
      await ask('login', { body: { token } })
    } catch (error) {
      isSignedIn.value = false
      return asRefusal(error)
    }
  }
  try {
    await ask('health')
    isSignedIn.value = true
    return null
  } catch (error) {
    const refusal = asRefusal(error)
    isSignedIn.value = false
    return refusal.status === 401 ? null : refusal
  }
}
