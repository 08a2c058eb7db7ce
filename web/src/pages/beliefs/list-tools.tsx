import { signal } from '@preact/signals'
import { useRef, useState } from 'preact/hooks'
import { beliefTypes } from '../../../../src/beliefs/belief.ts'
import type { ApiBelief } from '../../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask, asRefusal } from '../../api/client.ts'
import { count, pluralize } from '../../format/numbers.ts'
import { typeWords } from '../../format/words.ts'
import { useKeys } from '../../navigation/keys.ts'
import { navigate, path, query, withQuery } from '../../navigation/router.tsx'
import { showToast } from '../../state/changes.ts'
import { candidateCount, proposalCount, scopes } from '../../state/facts.ts'
import { Button } from '../../ui/elements.tsx'
import { Dialog, Field, SearchBox } from '../../ui/form.tsx'
import { type Filters, orderWords, type Show, shows, showWords } from './list.ts'

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

type View = { readonly name: string; readonly search: string }

const key = 'credence-views'

/** Searches and filters that somebody wants to see again. They are kept in this browser. */
const views = signal<readonly View[]>(read())

function read(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    const isView = (one: unknown): one is View =>
      typeof one === 'object' && one !== null && 'name' in one && 'search' in one
    return Array.isArray(kept) ? kept.filter(isView) : []
  } catch {
    return []
  }
}

function keep(next: readonly View[]): void {
  views.value = next
  try {
    localStorage.setItem(key, JSON.stringify(next))
  } catch {
    showToast('The browser keeps nothing here; the view lasts until the page is closed.', { tone: 'failed' })
  }
}

export function SavedViews() {
  const search = query.value.toString()
  const current = views.value.find((view) => view.search === search)
  const name = [...query.value.values()].join(' · ')
  return (
    <>
      {views.value.length === 0 ? null : (
        <select
          class="select"
          aria-label="Saved view"
          value={current?.search ?? ''}
          onChange={(event) => navigate(`${path.peek()}?${event.currentTarget.value}`)}
        >
          <option value="">Saved views</option>
          {views.value.map((view) => (
            <option key={view.search} value={view.search}>
              {view.name}
            </option>
          ))}
        </select>
      )}
      {search === '' ? null : current === undefined ? (
        <Button class="small" onClick={() => keep([...views.value, { name, search }])}>
          Save view
        </Button>
      ) : (
        <Button class="small" onClick={() => keep(views.value.filter((view) => view !== current))}>
          Drop view
        </Button>
      )}
    </>
  )
}

type BulkBarProps = {
  readonly beliefs: readonly ApiBelief[]
  readonly marked: ReadonlySet<string>
  readonly onMark: (marked: ReadonlySet<string>) => void
  readonly onDone: () => void
}

type Change = {
  readonly done: string
  /** Cannot be undone. */
  readonly isFinal?: boolean
  readonly make: (belief: ApiBelief) => Promise<{ readonly event: number | null }>
}

/** One change of many beliefs, each for itself, so that each can be undone for itself. */
export function BulkBar({ beliefs, marked, onMark, onDone }: BulkBarProps) {
  const [open, setOpen] = useState<'scope' | 'alias' | 'forget' | null>(null)
  const [words, setWords] = useState('')
  const [isBusy, setBusy] = useState(false)
  const chosen = beliefs.filter(({ id }) => marked.has(id))
  const run = async ({ done, make, isFinal = false }: Change) => {
    setBusy(true)
    let made = 0
    for (const belief of chosen) {
      try {
        const { event } = await make(belief)
        acknowledgeEvent(event)
        made += 1
      } catch (error) {
        showToast(`${belief.name}: ${asRefusal(error).message}`, { tone: 'failed' })
      }
    }
    setBusy(false)
    setOpen(null)
    setWords('')
    showToast(
      `${done}: ${pluralize(made, 'belief')}.${isFinal ? ' Nothing of them is left.' : ' The journal can undo each.'}`,
    )
    onDone()
  }
  const word = words.trim()
  const scope: Change = {
    done: `Hold in ${word} now`,
    make: ({ id, version }) =>
      ask('editBelief', { params: { id }, body: { scopes: [word], expectedVersion: version } }),
  }
  const alias: Change = {
    done: `Also known as “${word}”`,
    make: ({ id }) => ask('editBelief', { params: { id }, body: { addAliases: [word] } }),
  }
  const forget: Change = {
    done: 'Forgotten',
    isFinal: true,
    make: ({ id, version }) => ask('forgetBelief', { params: { id }, query: { expectedVersion: version } }),
  }
  return (
    <div class="bulk-bar row" role="toolbar" aria-label="Change the selected beliefs">
      <label class="check">
        <input
          type="checkbox"
          checked={chosen.length > 0 && chosen.length === beliefs.length}
          onChange={(event) => onMark(new Set(event.currentTarget.checked ? beliefs.map(({ id }) => id) : []))}
        />
        {count(chosen.length)} selected
      </label>
      <Button class="small" disabled={chosen.length === 0} onClick={() => setOpen('scope')}>
        Move
      </Button>
      <Button class="small" disabled={chosen.length === 0} onClick={() => setOpen('alias')}>
        Alias
      </Button>
      <Button class="small" tone="danger" disabled={chosen.length === 0} onClick={() => setOpen('forget')}>
        Forget
      </Button>
      {open === null ? null : (
        <Dialog title={titles[open](pluralize(chosen.length, 'belief'))} onClose={() => setOpen(null)}>
          <div class="stack">
            {open === 'forget' ? (
              <p>Their texts are erased from the store, its history and its index. It cannot be undone.</p>
            ) : (
              <Field
                label={open === 'scope' ? 'The scope they are to hold in' : 'Another name for all of them'}
                value={words}
                onInput={setWords}
                maxLength={200}
                placeholder={open === 'scope' ? 'project:name' : ''}
              />
            )}
            <div class="actions">
              <Button data-first={open === 'forget'} onClick={() => setOpen(null)}>
                Cancel
              </Button>
              <Button
                tone={open === 'forget' ? 'danger' : 'main'}
                class={open === 'forget' ? 'main' : ''}
                isBusy={isBusy}
                disabled={open !== 'forget' && word === ''}
                onClick={() => void run({ scope, alias, forget }[open])}
              >
                {open === 'forget' ? 'Forget' : 'Change'}
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </div>
  )
}

const titles = {
  scope: (amount: string) => `Move ${amount}`,
  alias: (amount: string) => `Give ${amount} another name`,
  forget: (amount: string) => `Forget ${amount}?`,
} as const
