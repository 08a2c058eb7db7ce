import { useEffect, useRef, useState } from 'preact/hooks'
import { beliefTypes } from '../../../../src/beliefs/belief.ts'
import { count } from '../../format/numbers.ts'
import { typeWords } from '../../format/words.ts'
import { useKeys } from '../../navigation/keys.ts'
import { navigate, withQuery } from '../../navigation/router.ts'
import { scopes, waiting } from '../../state/memory-facts.ts'
import { Icon } from '../../ui/icon.tsx'
import { type Filters, shows, showWords } from './filters.ts'

const typingPauseMs = 160

/** Search and filters of the list. They live in the address. */
export function FilterBar({ filters, onEnterList }: { readonly filters: Filters; readonly onEnterList: () => void }) {
  const set = (changes: Readonly<Record<string, string | null>>) => navigate(withQuery(changes), { replace: true })
  const known = scopes.value?.items ?? []
  const isKnown = filters.scope === null || known.some(({ scope }) => scope === filters.scope)
  return (
    <search class="filter-bar" aria-label="Beliefs">
      <SearchBox text={filters.text} onChange={(q) => set({ q })} onEnterList={onEnterList} />
      <div class="filter-row">
        <select
          class="select"
          aria-label="Scope"
          value={filters.scope ?? ''}
          onChange={(event) => set({ scope: event.currentTarget.value })}
        >
          <option value="">Every scope</option>
          {isKnown ? null : <option value={filters.scope ?? ''}>{filters.scope}</option>}
          {known.map(({ scope, beliefs }) => (
            <option key={scope} value={scope}>
              {scope} ({count(beliefs)})
            </option>
          ))}
        </select>
        <select
          class="select"
          aria-label="Type"
          value={filters.type ?? ''}
          onChange={(event) => set({ type: event.currentTarget.value })}
        >
          <option value="">Every type</option>
          {beliefTypes.map((type) => (
            <option key={type} value={type}>
              {typeWords[type]}
            </option>
          ))}
        </select>
        <select
          class="select"
          aria-label="Status"
          value={filters.show}
          onChange={(event) =>
            set({ show: event.currentTarget.value === 'current' ? null : event.currentTarget.value })
          }
        >
          {shows.map((show) => (
            <option key={show} value={show}>
              {showWords[show]}
              {show === 'proposals' && waiting.value !== null ? ` (${count(waiting.value)})` : ''}
            </option>
          ))}
        </select>
        <label class="check">
          <input
            type="checkbox"
            checked={filters.isPinned}
            onChange={(event) => set({ pinned: event.currentTarget.checked ? 'yes' : null })}
          />
          Pinned
        </label>
      </div>
    </search>
  )
}

type SearchBoxProps = {
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onEnterList: () => void
}

/** Asks when the person pauses; what is being typed is never replaced by what has been asked. */
function SearchBox({ text, onChange, onEnterList }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(text)
  const asked = useRef(text)
  useEffect(() => {
    if (text !== asked.current) setTyped(text)
    asked.current = text
  }, [text])
  useEffect(() => {
    if (typed === asked.current) return
    const timer = setTimeout(() => {
      asked.current = typed
      onChange(typed)
    }, typingPauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  useKeys({
    '/': {
      does: 'Search',
      act: () => {
        input.current?.focus()
        input.current?.select()
      },
    },
  })
  return (
    <div class="search-box">
      <Icon name="recall" />
      <input
        ref={input}
        class="input"
        type="search"
        aria-label="Search beliefs"
        placeholder="Search names, aliases, texts"
        autocomplete="off"
        maxLength={2_000}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.stopPropagation()
            if (typed === '') input.current?.blur()
            else setTyped('')
          }
          if (event.key === 'ArrowDown' || event.key === 'Enter') {
            event.preventDefault()
            onEnterList()
          }
        }}
      />
      <kbd>/</kbd>
    </div>
  )
}
