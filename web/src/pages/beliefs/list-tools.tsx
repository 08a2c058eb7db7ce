import { computed } from '@preact/signals'
import { useRef, useState } from 'preact/hooks'
import { beliefTypes } from '../../../../src/beliefs/belief.ts'
import type { ApiBelief } from '../../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask } from '../../api/client.ts'
import { count, pluralize } from '../../format/numbers.ts'
import { typeWords } from '../../format/words.ts'
import { useKeys } from '../../navigation/keys.ts'
import { navigate, path, query, setQuery } from '../../navigation/router.tsx'
import { showToast, toastRefusal } from '../../state/changes.ts'
import { candidateCount, proposalCount, scopes } from '../../state/facts.ts'
import { storedSignal } from '../../state/stored.ts'
import { Button } from '../../ui/elements.tsx'
import { Check, Field, FormDialog, QuerySelect, SearchBox, Select } from '../../ui/form.tsx'
import { type Filters, groupWords, orderWords, type Show, showWords } from './list.ts'

const wordPairs = <Key extends string>(words: Readonly<Record<Key, string>>): readonly [Key, string][] =>
  // The cast restores the type of the keys, which Object.entries drops.
  Object.entries(words) as [Key, string][]

/** The search and the filters of the list. They are part of the address. */
export function FilterBar({ filters, onEnterList }: { readonly filters: Filters; readonly onEnterList: () => void }) {
  const search = useRef<HTMLInputElement>(null)
  const focusSearch = () => {
    search.current?.focus()
    search.current?.select()
  }
  useKeys({ '/': { does: 'Search', onPress: focusSearch } })
  const known = scopes.value?.items ?? []
  const waiting: Partial<Record<Show, number | null>> = {
    proposals: proposalCount.value,
    candidates: candidateCount.value,
  }
  const { scope } = filters
  const isUnknown = scope !== null && known.every((one) => one.scope !== scope)
  return (
    <search class="filter-bar sticky stack tight" aria-label="Beliefs">
      <SearchBox
        input={search}
        label="Search beliefs"
        placeholder="Search names, aliases, texts"
        maxLength={2_000}
        text={filters.text}
        onChange={(q) => setQuery({ q })}
        onEnter={onEnterList}
      />
      <div class="columns filters">
        <QuerySelect
          label="Scope"
          name="scope"
          options={[
            ['', 'All scopes'],
            ...(isUnknown ? [[scope, scope] as const] : []),
            ...known.map((item) => [item.scope, `${item.scope} (${count(item.beliefs)})`] as const),
          ]}
        />
        <QuerySelect
          label="Type"
          name="type"
          options={[['', 'All types'], ...beliefTypes.map((type) => [type, typeWords[type]] as const)]}
        />
        <QuerySelect
          label="Status"
          name="show"
          options={wordPairs(showWords).map(([show, words]) => [
            show,
            waiting[show] == null ? words : `${words} (${count(waiting[show])})`,
          ])}
        />
        <QuerySelect label="Sort" name="sort" options={wordPairs(orderWords)} />
        <QuerySelect label="Group" name="group" options={wordPairs(groupWords)} />
      </div>
      <div class="row">
        <Check
          isChecked={filters.isPinned}
          onCheck={(isOn) => setQuery({ pinned: isOn ? 'yes' : null })}
          label="Pinned"
        />
        <Check
          isChecked={filters.isNeverRecalled}
          onCheck={(isOn) => setQuery({ recalled: isOn ? 'never' : null })}
          label="Never recalled"
        />
        <SavedViews />
      </div>
    </search>
  )
}

type View = { readonly name: string; readonly search: string }

/** Searches and filters that the person saved in this browser. */
const storedViews = storedSignal('localStorage', 'credence-views')

const views = computed<readonly View[]>(() => {
  try {
    const given: unknown = JSON.parse(storedViews.value || '[]')
    const isView = (one: unknown): one is View =>
      typeof one === 'object' && one !== null && 'name' in one && 'search' in one
    return Array.isArray(given) ? given.filter(isView) : []
  } catch {
    return []
  }
})

const saveViews = (next: readonly View[]): void => {
  storedViews.value = JSON.stringify(next)
}

function SavedViews() {
  const search = query.value.toString()
  const current = views.value.find((view) => view.search === search)
  const name = [...query.value.values()].join(' · ')
  return (
    <>
      {views.value.length === 0 ? null : (
        <Select
          label="Saved view"
          value={current?.search ?? ''}
          options={[['', 'Saved views'], ...views.value.map((view) => [view.search, view.name] as const)]}
          onChoose={(chosen) => navigate(`${path.peek()}?${chosen}`)}
        />
      )}
      {search === '' ? null : current === undefined ? (
        <Button class="small" onClick={() => saveViews([...views.value, { name, search }])} label="Save view" />
      ) : (
        <Button
          class="small"
          onClick={() => saveViews(views.value.filter((view) => view !== current))}
          label="Delete view"
        />
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

type BulkAction = {
  readonly button: string
  readonly title: (amount: string) => string
  /** The label of the text field. An action without a field cannot be undone. */
  readonly field?: string
  readonly placeholder?: string
  readonly done: (amount: string, word: string) => string
  readonly apply: (belief: ApiBelief, word: string) => Promise<{ readonly event: number | null }>
}

const bulkActions: readonly BulkAction[] = [
  {
    button: 'Move',
    title: (amount) => `Move ${amount}`,
    field: 'New scope',
    placeholder: 'project:name',
    done: (amount, word) => `Moved ${amount} to ${word}. Undo each in the journal.`,
    apply: ({ id, version }, word) =>
      ask('editBelief', { params: { id }, body: { scopes: [word], expectedVersion: version } }),
  },
  {
    button: 'Alias',
    title: (amount) => `Give ${amount} another name`,
    field: 'Alias for all of them',
    done: (amount, word) => `Gave ${amount} the alias “${word}”. Undo each in the journal.`,
    apply: ({ id }, word) => ask('editBelief', { params: { id }, body: { addAliases: [word] } }),
  },
  {
    button: 'Forget',
    title: (amount) => `Forget ${amount}?`,
    done: (amount) => `Forgot ${amount}. Their texts are erased.`,
    apply: ({ id, version }) => ask('forgetBelief', { params: { id }, query: { expectedVersion: version } }),
  },
]

/** Changes several beliefs, with one event per belief, so that each change can be undone. */
export function BulkBar({ beliefs, marked, onMark, onDone }: BulkBarProps) {
  const [open, setOpen] = useState<BulkAction | null>(null)
  const [word, setWord] = useState('')
  const chosen = beliefs.filter(({ id }) => marked.has(id))
  const run = async ({ apply, done }: BulkAction) => {
    let changed = 0
    for (const belief of chosen) {
      try {
        acknowledgeEvent((await apply(belief, word.trim())).event)
        changed += 1
      } catch (error) {
        toastRefusal(error, `${belief.name}: `)
      }
    }
    showToast(done(pluralize(changed, 'belief'), word.trim()))
    onDone()
    return null
  }
  return (
    <div class="toolbar" role="toolbar" aria-label="Change the selected beliefs">
      <Check
        isChecked={chosen.length > 0 && chosen.length === beliefs.length}
        onCheck={(isAll) => onMark(new Set(isAll ? beliefs.map(({ id }) => id) : []))}
        label={`${count(chosen.length)} selected`}
      />
      {bulkActions.map((action) => (
        <Button
          key={action.button}
          class="small"
          tone={action.field === undefined ? 'danger' : 'plain'}
          disabled={chosen.length === 0}
          onClick={() => setOpen(action)}
          label={action.button}
        />
      ))}
      {open === null ? null : (
        <FormDialog
          title={open.title(pluralize(chosen.length, 'belief'))}
          submit={open.button}
          isDangerous={open.field === undefined}
          isIdle={open.field !== undefined && word.trim() === ''}
          onClose={() => setOpen(null)}
          onSubmit={() => run(open)}
        >
          {open.field === undefined ? (
            <p>Their texts are erased from the store, its history and its index. This cannot be undone.</p>
          ) : (
            <Field
              label={open.field}
              value={word}
              onInput={setWord}
              maxLength={200}
              placeholder={open.placeholder ?? ''}
            />
          )}
        </FormDialog>
      )}
    </div>
  )
}
