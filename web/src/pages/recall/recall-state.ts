import { computed, signal } from '@preact/signals'
import { ask, journalHead } from '../../api/client.ts'
import { navigate, path, query, withQuery } from '../../navigation/router.tsx'
import { scopes } from '../../state/facts.ts'
import { useDebounced, useResource } from '../../state/resource.ts'
import { stored } from '../../state/stored.ts'

/** The server's limit. */
export const maxMessageLength = 100_000

/**
 * The message of Home and Recall. It survives a visit to another page and a reload, in this tab only, and is never part of an
 * address: messages are private.
 */
export const message = stored('sessionStorage', 'credence-message')

/** What an agent would get for the message, updated at every pause in typing; null if nothing can be asked. */
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

/** Null before a choice: then the server's default scopes. */
export const chosenScopes = signal<readonly string[] | null>(null)

export const activeScopes = computed(() => chosenScopes.value ?? scopes.value?.active ?? [])

/** Changes the active scopes, here and in the address. An empty choice is written as an empty parameter. */
export function chooseScopes(next: readonly string[] | null): void {
  chosenScopes.value = next
  if (path.peek() !== '/recall') return
  navigate(withQuery({ scope: next !== null && next.length === 0 ? [''] : next }), { replace: true })
}

/** Scopes in the address override an earlier choice; otherwise the choice is written into the address. */
export function adoptScopes(): void {
  const given = query.peek().getAll('scope')
  if (given.length > 0) chosenScopes.value = given.filter((scope) => scope !== '')
  else if (chosenScopes.peek() !== null) chooseScopes(chosenScopes.peek())
}

export function toggleScope(scope: string): void {
  const before = activeScopes.peek()
  chooseScopes(before.includes(scope) ? before.filter((one) => one !== scope) : [...before, scope])
}
