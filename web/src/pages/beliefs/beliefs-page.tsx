import { useRef, useState } from 'preact/hooks'
import { journalHead } from '../../api/live.ts'
import { counted } from '../../format/numbers.ts'
import { useKeys } from '../../navigation/keys.ts'
import { address } from '../../navigation/match.ts'
import { navigate, query, withQuery } from '../../navigation/router.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { EmptyState, FailedState } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { BeliefDetail } from './belief-detail.tsx'
import { type BeliefList, useBeliefList } from './belief-list.ts'
import { BeliefRow } from './belief-row.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { FilterBar } from './filter-bar.tsx'
import { type Filters, filtersOf, isFiltered, questionFor } from './filters.ts'
import { MoreRows } from './more-rows.tsx'

/** The list on one side, the chosen belief on the other. On a narrow screen one at a time. */
export function BeliefsPage({ chosen }: { readonly chosen: string | null }) {
  const filters = filtersOf(query.value)
  const list = useBeliefList(questionFor(filters), journalHead.value)
  const [isCreating, setCreating] = useState(false)
  const rows = useRef<HTMLUListElement>(null)
  const step = (by: 1 | -1) => {
    const ids = (list.items ?? []).map(({ belief }) => belief.id)
    const at = chosen === null ? -1 : ids.indexOf(chosen)
    const next = ids[at === -1 ? (by === 1 ? 0 : ids.length - 1) : at + by]
    if (next === undefined) return
    navigate(withQuery({}, address('beliefs', next)), { replace: chosen !== null })
    const row = rows.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(next)}"] a`)
    row?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({
    j: { does: 'Next belief', act: () => step(1) },
    k: { does: 'Previous belief', act: () => step(-1) },
    ArrowDown: { does: 'Next belief', act: () => step(1), isHidden: true },
    ArrowUp: { does: 'Previous belief', act: () => step(-1), isHidden: true },
    n: { does: 'New belief', act: () => setCreating(true) },
  })
  return (
    <div class={chosen === null ? 'beliefs' : 'beliefs has-choice'}>
      <section class="beliefs-list" aria-labelledby="beliefs-title">
        <div class="beliefs-head">
          <h1 id="beliefs-title">Beliefs</h1>
          <span class="soft small number" role="status">
            {list.items === null ? ' ' : counted(list.total, 'belief')}
          </span>
          <Button icon="plus" onClick={() => setCreating(true)}>
            New
          </Button>
        </div>
        <FilterBar filters={filters} onEnterList={() => step(1)} />
        <Rows list={list} rows={rows} chosen={chosen} filters={filters} onCreate={() => setCreating(true)} />
      </section>
      <section class="beliefs-detail" aria-label="The chosen belief" key={chosen ?? ''}>
        {chosen === null ? (
          <NothingChosen isEmpty={list.items === null ? list.error !== null : list.items.length === 0} />
        ) : (
          <BeliefDetail id={chosen} />
        )}
      </section>
      {isCreating ? <CreateDialog onClose={() => setCreating(false)} scope={filters.scope} /> : null}
    </div>
  )
}

type RowsProps = {
  readonly list: BeliefList
  readonly rows: { current: HTMLUListElement | null }
  readonly chosen: string | null
  readonly filters: Filters
  readonly onCreate: () => void
}

function Rows({ list, rows, chosen, filters, onCreate }: RowsProps) {
  const { items, total, error, isLoading } = list
  if (items === null && error !== null) return <FailedState error={error} retry={list.reload} />
  if (items === null) return <SkeletonRows rows={9} label="Loading beliefs" />
  if (items.length === 0) return <NoRows filters={filters} onCreate={onCreate} />
  return (
    <>
      {error === null ? null : (
        <p class="stale" role="alert">
          <Icon name="warn" /> This list may be old: {error.message}
        </p>
      )}
      <ul class="belief-rows" ref={rows} aria-busy={isLoading}>
        {items.map((item) => (
          <BeliefRow key={item.belief.id} item={item} isChosen={item.belief.id === chosen} />
        ))}
      </ul>
      {items.length < total ? <MoreRows onMore={list.loadMore} shown={items.length} total={total} /> : null}
    </>
  )
}

function NoRows({ filters, onCreate }: { readonly filters: Filters; readonly onCreate: () => void }) {
  if (filters.show === 'proposals')
    return (
      <EmptyState icon="check" title="Nothing is waiting for you">
        When an agent wants to change something you said, it lands here for you to decide.
      </EmptyState>
    )
  if (filters.show === 'candidates')
    return (
      <EmptyState icon="check" title="Nothing is waiting for you">
        A preference that you state once in a conversation lands here, and holds when you confirm it.
      </EmptyState>
    )
  if (isFiltered(filters))
    return (
      <EmptyState icon="filter" title="Nothing fits">
        <p>No belief has these words and these properties.</p>
        <Button onClick={() => navigate('/beliefs', { replace: true })}>Clear search and filters</Button>
      </EmptyState>
    )
  return (
    <EmptyState icon="beliefs" title="Nothing is remembered yet">
      <p>A belief is one thing worth remembering: a decision, a preference, a name and what it stands for.</p>
      <Button tone="main" icon="plus" onClick={onCreate}>
        Write the first one
      </Button>
      <p>Or let your agent do it:</p>
      <code class="command">credence connect claude-code</code>
    </EmptyState>
  )
}

function NothingChosen({ isEmpty }: { readonly isEmpty: boolean }) {
  // Where there is nothing to choose, the list says what to do.
  if (isEmpty) return null
  return (
    <EmptyState icon="beliefs" title="Choose a belief">
      <p>
        Its words, where they came from and everything that happened to it appear here. <kbd>j</kbd> and <kbd>k</kbd> go
        through the list, <kbd>?</kbd> shows every key.
      </p>
    </EmptyState>
  )
}
