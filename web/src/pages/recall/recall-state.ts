import { computed, signal } from '@preact/signals'
import { ask, journalHead } from '../../api/client.ts'
import { navigate, path, query, withQuery } from '../../navigation/router.tsx'
import { scopes } from '../../state/facts.ts'
import { useDebounced, useResource } from '../../state/resource.ts'
import { storedSignal } from '../../state/stored.ts'

/** Max characters of a message that the server accepts. */
export const maxMessageLength = 100_000

/**
 * The message on the pages Home and Recall. Kept in this tab, even after a reload, and never part of an address, because
 * messages are private.
 */
export const message = storedSignal('sessionStorage', 'credence-message')

/** Recalls the context for the message at every pause in typing. `answer` is null without scopes or for a message that is too long. */
export function useRecall(inView: readonly string[]) {
  const asked = useDebounced(message.value)
  const isAskable = inView.length > 0 && asked.length <= maxMessageLength
  return useResource(
    JSON.stringify([asked, inView]),
    async (signal) => {
      const body = { message: asked, scopes: [...inView] }
      return { asked, answer: isAskable ? await ask('recall', { body, signal }) : null }
    },
    { freshness: journalHead.value, keep: true },
  )
}

/** The scopes that the person chose; null for the server's default scopes. */
export const chosenScopes = signal<readonly string[] | null>(null)

export const activeScopes = computed(() => chosenScopes.value ?? scopes.value?.active ?? [])

/** Changes the active scopes, also in the address. An empty choice becomes an empty parameter. */
export function chooseScopes(next: readonly string[] | null): void {
  chosenScopes.value = next
  if (path.peek() !== '/recall') return
  navigate(withQuery({ scope: next !== null && next.length === 0 ? [''] : next }), { replace: true })
}

/** Uses the scopes in the address; if there are none, adds the chosen scopes to it. */
export function adoptScopes(): void {
  const given = query.peek().getAll('scope')
  if (given.length > 0) chosenScopes.value = given.filter((scope) => scope !== '')
  else if (chosenScopes.peek() !== null) chooseScopes(chosenScopes.peek())
}

export function toggleScope(scope: string): void {
  const before = activeScopes.peek()
  chooseScopes(before.includes(scope) ? before.filter((one) => one !== scope) : [...before, scope])
}
