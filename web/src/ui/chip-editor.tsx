import { useId, useRef, useState } from 'preact/hooks'
import type { Refusal } from '../api/refusal.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { Refused } from './notice.tsx'

type ChipEditorProps = {
  readonly items: readonly string[]
  /** What one of them is called: `alias`. */
  readonly noun: string
  readonly placeholder: string
  readonly isReadOnly: boolean
  readonly suggestions?: readonly string[]
  readonly add: (item: string) => Promise<Refusal | null>
  readonly remove: (item: string) => Promise<Refusal | null>
}

/** A few words that can be added and taken away one by one, each at once. */
export function ChipEditor({ items, noun, placeholder, isReadOnly, suggestions = [], add, remove }: ChipEditorProps) {
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const listId = useId()
  const act = async (what: () => Promise<Refusal | null>): Promise<boolean> => {
    setBusy(true)
    const refusal = await what()
    setBusy(false)
    setError(refusal)
    return refusal === null
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    const word = typed.trim()
    if (word === '' || isBusy) return
    if (await act(() => add(word))) setTyped('')
    input.current?.focus()
  }
  const drop = async (item: string, event: MouseEvent) => {
    const isByKey = event.detail === 0
    // The button goes with its chip, and the focus would go with the button.
    if ((await act(() => remove(item))) && isByKey) input.current?.focus()
  }
  return (
    <div class="stack tight">
      <ul class="chips">
        {items.map((item) => (
          <li key={item} class={isReadOnly ? 'chip plain' : 'chip'}>
            <span dir="auto">{item}</span>
            {isReadOnly ? null : (
              <button type="button" aria-label={`Remove ${noun} ${item}`} onClick={(event) => void drop(item, event)}>
                <Icon name="close" size={12} />
              </button>
            )}
          </li>
        ))}
        {isReadOnly && items.length === 0 ? <li class="soft">none</li> : null}
        {isReadOnly ? null : (
          <li>
            <form class="chip-form" onSubmit={submit}>
              <input
                ref={input}
                class="input"
                aria-label={`Add ${noun}`}
                placeholder={placeholder}
                maxLength={200}
                dir="auto"
                autocomplete="off"
                list={suggestions.length === 0 ? undefined : listId}
                value={typed}
                data-chip={noun}
                onInput={(event) => setTyped(event.currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key !== 'Escape') return
                  event.stopPropagation()
                  setTyped('')
                  setError(null)
                  input.current?.blur()
                }}
              />
              <Button type="submit" icon="plus" isBusy={isBusy} aria-label={`Add ${noun}`} class="small" />
            </form>
            {suggestions.length === 0 ? null : (
              <datalist id={listId}>
                {suggestions.map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            )}
          </li>
        )}
      </ul>
      <Refused error={error} />
    </div>
  )
}
