import { Fragment } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { journalHead } from '../../api/client.ts'
import { count, pluralize } from '../../format/numbers.ts'
import { typeWords } from '../../format/words.ts'
import { useKeys } from '../../navigation/keys.ts'
import { address } from '../../navigation/match.ts'
import { Link, navigate, query, withQuery } from '../../navigation/router.tsx'
import { commandLine } from '../../state/facts.ts'
import { Badge, Button, Highlighted, Time } from '../../ui/elements.tsx'
import { MoreRows } from '../../ui/lists.tsx'
import { EmptyState, FailedState, SkeletonRows } from '../../ui/notice.tsx'
import { BeliefDetail } from './belief-detail.tsx'
import { stateOf } from './belief-state.ts'
import { CreateDialog } from './dialogs.tsx'
import { type Filters, filtersOf, type Group, isFiltered, type Listed, listQuery, useBeliefList } from './list.ts'
import { BulkBar, FilterBar } from './list-tools.tsx'

/** The list on the left and the selected belief on the right; narrow windows show one of them. */
export function BeliefsPage({ chosen }: { readonly chosen: string | null }) {
  const filters = filtersOf(query.value)
  const list = useBeliefList(listQuery(filters), journalHead.value)
  const [isCreating, setCreating] = useState(query.peek().get('new') === 'yes')
  const [marked, setMarked] = useState<ReadonlySet<string> | null>(null)
  const section = useRef<HTMLElement>(null)
  const step = (by: 1 | -1) => {
    const ids = (list.items ?? []).map(({ belief }) => belief.id)
    const at = chosen === null ? -1 : ids.indexOf(chosen)
    const next = ids[at === -1 ? (by === 1 ? 0 : ids.length - 1) : at + by]
    if (next === undefined) return
    navigate(withQuery({}, address('beliefs', next)), { replace: chosen !== null })
    const row = section.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(next)}"] a`)
    row?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({
    j: { does: 'Next belief', onPress: () => step(1) },
    k: { does: 'Previous belief', onPress: () => step(-1) },
    ArrowDown: { does: 'Next belief', onPress: () => step(1), isHidden: true },
    ArrowUp: { does: 'Previous belief', onPress: () => step(-1), isHidden: true },
    n: { does: 'New belief', onPress: () => setCreating(true) },
  })
  return (
    <div class={chosen === null ? 'list-and-item' : 'list-and-item has-choice'}>
      {chosen === null ? null : <h1 class="unseen only-narrow">Beliefs</h1>}
      <section class="list-pane" aria-labelledby="beliefs-title" ref={section}>
        <div class="list-head row">
          <h1 id="beliefs-title">Beliefs</h1>
          <span class="soft small number" role="status">
            {list.items === null
              ? ' '
              : list.isCut
                ? `More than ${count(list.total)}; the best are shown`
                : pluralize(list.total, 'belief')}
          </span>
          <Button
            class="to-end"
            aria-pressed={marked !== null}
            onClick={() => setMarked(marked === null ? new Set() : null)}
            label="Select"
          />
          <Button icon="plus" onClick={() => setCreating(true)} label="New" />
        </div>
        <FilterBar filters={filters} onEnterList={() => step(1)} />
        {marked === null ? null : (
          <BulkBar
            beliefs={(list.items ?? []).map(({ belief }) => belief)}
            marked={marked}
            onMark={setMarked}
            onDone={() => setMarked(null)}
          />
        )}
        <Rows
          list={list}
          chosen={chosen}
          filters={filters}
          marked={marked}
          onMark={setMarked}
          onCreate={() => setCreating(true)}
        />
      </section>
      <section class="item-pane" aria-label="The chosen belief" key={chosen ?? ''}>
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
  readonly list: ReturnType<typeof useBeliefList>
  readonly chosen: string | null
  readonly filters: Filters
  readonly marked: ReadonlySet<string> | null
  readonly onMark: (marked: ReadonlySet<string>) => void
  readonly onCreate: () => void
}

function Rows({ list, chosen, filters, marked, onMark, onCreate }: RowsProps) {
  const { items, total, error, isLoading } = list
  if (items === null && error !== null) return <FailedState error={error} retry={list.reload} />
  if (items === null) return <SkeletonRows rows={9} label="Loading beliefs" />
  if (items.length === 0) return <NoRows filters={filters} onCreate={onCreate} />
  return (
    <>
      {error === null ? null : (
        <p class="note" role="alert">
          This list may be outdated: {error.message}
        </p>
      )}
      {filters.group === 'none' || items.length === total ? null : (
        <p class="note">
          The groups contain the first {items.length} of {total} beliefs. Scroll down to load the others.
        </p>
      )}
      <ul class="belief-rows" aria-busy={isLoading}>
        {groupBeliefs(items, filters.group).map(({ item, title }) => (
          <Fragment key={item.belief.id}>
            {title === null ? null : <li class="group-title">{title}</li>}
            <BeliefRow
              item={item}
              isChosen={item.belief.id === chosen}
              isMarked={marked?.has(item.belief.id) ?? null}
              onMark={() => {
                const next = new Set(marked)
                if (!next.delete(item.belief.id)) next.add(item.belief.id)
                onMark(next)
              }}
            />
          </Fragment>
        ))}
      </ul>
      {items.length < total ? <MoreRows onMore={list.loadMore} shown={items.length} total={total} /> : null}
    </>
  )
}

/** Groups the rows. Groups are in the order of their first rows; the first row of a group contains its title. */
function groupBeliefs(items: readonly Listed[], group: Group) {
  if (group === 'none') return items.map((item) => ({ item, title: null }))
  const titleOf = ({ belief }: Listed): string => (group === 'type' ? typeWords[belief.type] : belief.scopes.join(', '))
  return [...Map.groupBy(items, titleOf)].flatMap(([title, own]) =>
    own.map((item, index) => ({ item, title: index === 0 ? title : null })),
  )
}

function NoRows({ filters, onCreate }: { readonly filters: Filters; readonly onCreate: () => void }) {
  if (filters.show === 'proposals' || filters.show === 'candidates')
    return (
      <EmptyState
        icon="check"
        title="Nothing is waiting for you"
        text="Changes that an agent or an edit of MEMORY.md proposes, and new statements, wait here for your decision."
      />
    )
  if (isFiltered(filters))
    return (
      <EmptyState icon="filter" title="Nothing matches">
        <p>No belief matches the search and the filters.</p>
        <Button onClick={() => navigate('/beliefs', { replace: true })}>Clear search and filters</Button>
      </EmptyState>
    )
  return (
    <EmptyState icon="beliefs" title="Nothing is remembered yet">
      <p>A belief is one thing worth remembering: a decision, a preference, a name and its meaning.</p>
      <Button tone="main" icon="plus" onClick={onCreate} label="Write the first one" />
      <p>Or let your agent do it:</p>
      <code class="command box">{commandLine('connect claude-code')}</code>
    </EmptyState>
  )
}

function NothingChosen({ isEmpty }: { readonly isEmpty: boolean }) {
  // Shows nothing, because the empty list already explains the next step.
  if (isEmpty) return null
  return (
    <EmptyState icon="beliefs" title="Choose a belief">
      <p>
        Its text, its source and its history appear here. <kbd>j</kbd> and <kbd>k</kbd> move through the list;{' '}
        <kbd>?</kbd> shows all keys.
      </p>
    </EmptyState>
  )
}

type BeliefRowProps = {
  readonly item: Listed
  readonly isChosen: boolean
  /** Whether the row is selected for a bulk change; null if selection is off. */
  readonly isMarked: boolean | null
  readonly onMark: () => void
}

/** One row of the list: name, content, type and scopes. */
function BeliefRow({ item, isChosen, isMarked, onMark }: BeliefRowProps) {
  const { belief, hit, recalls } = item
  const found = (field: string) => (hit?.highlights ?? []).filter((highlight) => highlight.field === field)
  const state = stateOf(belief)
  return (
    <li class="belief-row" data-id={belief.id}>
      {isMarked === null ? null : (
        <input type="checkbox" aria-label={`Select ${belief.name}`} checked={isMarked} onChange={onMark} />
      )}
      <Link
        class="belief-link"
        href={withQuery({}, address('beliefs', belief.id))}
        aria-current={isChosen ? 'true' : undefined}
      >
        <span class="belief-name">
          <span class="clip" dir="auto">
            <Highlighted text={belief.name} ranges={found('name')} />
          </span>
          {belief.pinned ? (
            <Badge tone="accent">
              <span class="pin-sign">pinned</span>
            </Badge>
          ) : null}
        </span>
        <span class="clip small" dir="auto">
          <Highlighted text={belief.content} ranges={found('content')} />
        </span>
        <span class="belief-meta">
          <span>{typeWords[belief.type]}</span>
          <span class="clip">{belief.scopes.join(', ')}</span>
          {state === null ? null : <Badge tone={state.tone}>{state.word}</Badge>}
          {hit?.strength === 'exact' ? <Badge tone="accent">exact</Badge> : null}
          {recalls === 0 ? null : <span>{pluralize(recalls, 'recall')}</span>}
          <span class="to-end">
            <Time at={belief.updatedAt} />
          </span>
        </span>
      </Link>
    </li>
  )
}
