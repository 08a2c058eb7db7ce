import { computed, signal } from '@preact/signals'

/** What somebody is writing and has not saved, with the version it began from. It outlives a look at another page. */
export type Draft = { readonly text: string; readonly baseVersion: number }

const drafts = signal<ReadonlyMap<string, Draft>>(new Map())

export const draftOf = (key: string): Draft | null => drafts.value.get(key) ?? null

export const hasDrafts = computed(() => drafts.value.size > 0)

export function keepDraft(key: string, draft: Draft): void {
  drafts.value = new Map(drafts.peek()).set(key, draft)
}

export function dropDraft(key: string): void {
  const rest = new Map(drafts.peek())
  rest.delete(key)
  drafts.value = rest
}

window.addEventListener('beforeunload', (event) => {
  if (hasDrafts.peek()) event.preventDefault()
})
