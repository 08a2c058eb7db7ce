import { computed, signal } from '@preact/signals'
import { scopes } from '../../state/memory-facts.ts'

/** What is asked. It outlives a look at another page, and is never part of an address: messages are private. */
export const message = signal('')

/** Null while nobody has chosen: then what the server takes for granted. */
export const chosenScopes = signal<readonly string[] | null>(null)

export const activeScopes = computed(() => chosenScopes.value ?? scopes.value?.active ?? [])

export function toggleScope(scope: string): void {
  const before = activeScopes.peek()
  chosenScopes.value = before.includes(scope) ? before.filter((one) => one !== scope) : [...before, scope]
}

/** The belief under the pointer, whose words are shown stronger in the message. */
export const pointedAt = signal<string | null>(null)
