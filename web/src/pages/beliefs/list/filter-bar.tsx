import { useRef } from 'preact/hooks'
import { beliefTypes } from '../../../../../src/beliefs/belief.ts'
import { count } from '../../../format/numbers.ts'
import { typeWords } from '../../../format/words.ts'
import { useKeys } from '../../../navigation/keys.ts'
import { navigate, withQuery } from '../../../navigation/router.ts'
import { candidateCount, proposalCount, scopes } from '../../../state/memory-facts.ts'
import { SearchBox } from '../../../ui/search-box.tsx'
import { type Filters, orderWords, type Show, shows, showWords } from './filters.ts'
import { SavedViews } from './saved-views.tsx'

/** Search and filters of the list. They live in the address. */
export function FilterBar({ filters, onEnterList }: { readonly filters: Filters; readonly onEnterList: () => void }) {
  const set = (changes: Readonly<Record<string, string | null>>) => navigate(withQuery(changes), { replace: true })
  const search = useRef<HTMLInputElement>(null)
  useKeys({
    '/': {
      does: 'Search',
      act: () => {
        search.current?.focus()
        search.current?.select()
      },
    },
  })
  const known = scopes.value?.items ?? []
  const waiting: Partial<Record<Show, number | null>> = {
    proposals: proposalCount.value,
    candidates: candidateCount.value,
  }
  const isKnown = filters.scope === null || known.some(({ scope }) => scope === filters.scope)
  return (
    <search class="filter-bar" aria-label="Beliefs">
      <SearchBox
        input={search}
        label="Search beliefs"
        placeholder="Search names, aliases, texts"
        maxLength={2_000}
        shortcut="/"
        text={filters.text}
        onChange={(q) => set({ q })}
        onEnter={onEnterList}
      />
      <div class="filter-row two-lines">
        <select
          class="select"
          aria-label="Scope"
          value={filters.scope ?? ''}
          onChange={(event) => set({ scope: event.currentTarget.value })}
        >
          <option value="">All scopes</option>
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
          <option value="">All types</option>
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
              {waiting[show] == null ? '' : ` (${count(waiting[show])})`}
            </option>
          ))}
        </select>
        <select
          class="select"
          aria-label="Sort"
          value={filters.order}
          onChange={(event) =>
            set({ sort: event.currentTarget.value === 'updated' ? null : event.currentTarget.value })
          }
        >
          {Object.entries(orderWords).map(([order, words]) => (
            <option key={order} value={order}>
              {words}
            </option>
          ))}
        </select>
        <select
          class="select"
          aria-label="Group"
          value={filters.group}
          onChange={(event) => set({ group: event.currentTarget.value === 'none' ? null : event.currentTarget.value })}
        >
          <option value="none">Not grouped</option>
          <option value="scope">By scope</option>
          <option value="type">By type</option>
        </select>
      </div>
      <div class="row">
        <label class="check">
          <input
            type="checkbox"
            checked={filters.isPinned}
            onChange={(event) => set({ pinned: event.currentTarget.checked ? 'yes' : null })}
          />
          Pinned
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={filters.isNeverRecalled}
            onChange={(event) => set({ recalled: event.currentTarget.checked ? 'never' : null })}
          />
          Never recalled
        </label>
        <SavedViews />
      </div>
    </search>
  )
}
