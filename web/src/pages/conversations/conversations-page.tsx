import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { journalHead } from '../../api/live.ts'
import { counted } from '../../format/numbers.ts'
import { dayOf, endOfDay, namedDay } from '../../format/time.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { navigate, query, withQuery } from '../../navigation/router.ts'
import { scopes, typed } from '../../state/memory-facts.ts'
import { useResource } from '../../state/resource.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EmptyState } from '../../ui/notice.tsx'
import { SearchBox } from '../../ui/search-box.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Windowed } from '../../ui/windowed.tsx'
import { ForgetTurns } from './forget-turns.tsx'
import { FoundTurns } from './found-turns.tsx'
import { SessionView } from './session-view.tsx'

/** What was said, by day and project; a conversation as a chat; and the search through all of it. */
export function ConversationsPage({ chosen }: { readonly chosen: string | null }) {
  const text = query.value.get('q') ?? ''
  const [isForgetting, setForgetting] = useState(false)
  return (
    <div class={chosen === null ? 'beliefs talks' : 'beliefs talks has-choice'}>
      {chosen === null ? null : <h1 class="unseen only-narrow">Conversations</h1>}
      <section class="beliefs-list" aria-labelledby="talks-title">
        <div class="beliefs-head">
          <h1 id="talks-title">Conversations</h1>
          <Button icon="trash" class="to-end" onClick={() => setForgetting(true)}>
            Forget…
          </Button>
        </div>
        <Filters text={text} />
        {text.trim() === '' ? <Sessions chosen={chosen} /> : <FoundTurns text={text} />}
      </section>
      <section class="beliefs-detail" aria-label="The conversation" key={chosen ?? ''}>
        {chosen === null ? (
          <EmptyState icon="chat" title="Choose a conversation">
            <p>
              What you and your agents said, word for word, with secrets masked. Credence quotes it when a later message
              asks about it.
            </p>
          </EmptyState>
        ) : (
          <SessionView session={chosen} />
        )}
      </section>
      {isForgetting ? <ForgetTurns selection={null} onClose={() => setForgetting(false)} /> : null}
    </div>
  )
}

/** The filters of the address. A day means its end. */
export function turnFilters() {
  const [scope, until] = [query.value.get('scope'), query.value.get('until')]
  return { ...(scope === null ? {} : { scope: [scope] }), ...(until === null ? {} : { until: endOfDay(until) }) }
}

function Filters({ text }: { readonly text: string }) {
  const set = (changes: Readonly<Record<string, string | null>>) => navigate(withQuery(changes), { replace: true })
  const { scope = [null] } = turnFilters()
  return (
    <search class="filter-bar" aria-label="Conversations">
      <SearchBox
        label="Search conversations"
        placeholder="Ask, or search for words"
        maxLength={2_000}
        text={text}
        onChange={(q) => set({ q })}
      />
      <div class="filter-row">
        <select
          class="select"
          aria-label="Project"
          value={scope[0] ?? ''}
          onChange={(event) => set({ scope: event.currentTarget.value })}
        >
          <option value="">All projects</option>
          {(scopes.value?.items ?? []).map((one) => (
            <option key={one.scope} value={one.scope}>
              {one.scope}
            </option>
          ))}
        </select>
        <label class="row small">
          As of
          <input
            class="input"
            type="date"
            value={query.value.get('until') ?? ''}
            onChange={(event) => set({ until: event.currentTarget.value })}
          />
        </label>
      </div>
    </search>
  )
}

type Session = RouteAnswer<'listConversations'>['items'][number]

function Sessions({ chosen }: { readonly chosen: string | null }) {
  const filters = turnFilters()
  const key = JSON.stringify(filters)
  const found = useResource(
    key,
    async (signal) => (await ask('listConversations', { query: { ...filters, limit: 1 }, signal })).total,
    { freshness: journalHead.value },
  )
  // One more, to know whether the first of a part begins a new day.
  const load = async (offset: number, limit: number, signal: AbortSignal) => {
    const before = offset === 0 ? 0 : 1
    const window = { limit: limit + before, offset: offset - before }
    const { items } = await ask('listConversations', { query: { ...filters, ...window }, signal })
    return items.slice(before).map((one, at) => {
      const day = dayOf(one.lastAt, one.utcOffset)
      const previous = items[at + before - 1]
      return { one, isNewDay: previous === undefined || dayOf(previous.lastAt, previous.utcOffset) !== day }
    })
  }
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={8} label="Loading conversations" />}>
      {(total) =>
        total === 0 ? (
          <EmptyState icon="chat" title="No conversations yet">
            <p>What you say to a connected agent is stored here, on this machine.</p>
            <code class="command">{typed('connect claude-code')}</code>
          </EmptyState>
        ) : (
          <Windowed key={key} total={total} freshness={journalHead.value} usualHeight={76} load={load}>
            {(rows: Awaited<ReturnType<typeof load>>) => (
              <ul class="belief-rows">
                {rows.map(({ one, isNewDay }) => (
                  <Fragment key={one.session}>
                    {isNewDay ? <li class="group-title">{namedDay(one.lastAt, one.utcOffset)}</li> : null}
                    <SessionRow one={one} isChosen={one.session === chosen} />
                  </Fragment>
                ))}
              </ul>
            )}
          </Windowed>
        )
      }
    </Loaded>
  )
}

function SessionRow({ one, isChosen }: { readonly one: Session; readonly isChosen: boolean }) {
  return (
    <li class="belief-row">
      <Link
        class="belief-link"
        href={withQuery({ turn: null }, address('conversations', one.session))}
        aria-current={isChosen ? 'true' : undefined}
      >
        <span class="belief-name">
          <span class="clip" dir="auto">
            {one.opening === '' ? one.session : one.opening}
          </span>
        </span>
        <span class="belief-meta">
          <span>{counted(one.turns, 'turn')}</span>
          {one.scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
          <span class="belief-time">{one.hosts.join(', ')}</span>
        </span>
      </Link>
    </li>
  )
}
