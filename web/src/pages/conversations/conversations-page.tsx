import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { reporterOf } from '../../../../src/beliefs/turn.ts'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, journalHead } from '../../api/client.ts'
import { pluralize } from '../../format/numbers.ts'
import type { TextRange } from '../../format/text.ts'
import { dateTimeText, dayOf, endOfDay, namedDay } from '../../format/time.ts'
import { address } from '../../navigation/match.ts'
import { Link, query, setQuery, withQuery } from '../../navigation/router.tsx'
import { commandLine, scopes } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { AgeBadge, Badge, Button, Clipped, Highlighted } from '../../ui/elements.tsx'
import { QuerySelect, SearchBox } from '../../ui/form.tsx'
import { VirtualPages } from '../../ui/lists.tsx'
import { EmptyState, Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { StrengthChip } from '../recall/reasons.tsx'
import { ForgetTurns, SessionView, speakers } from './session-view.tsx'

/** The stored conversations by day, the selected one as a chat, and a search in all of them. */
export function ConversationsPage({ chosen }: { readonly chosen: string | null }) {
  const text = query.value.get('q') ?? ''
  const [isForgetting, setForgetting] = useState(false)
  return (
    <div class={chosen === null ? 'list-and-item talks' : 'list-and-item talks has-choice'}>
      {chosen === null ? null : <h1 class="unseen only-narrow">Conversations</h1>}
      <section class="list-pane" aria-labelledby="talks-title">
        <div class="list-head row">
          <h1 id="talks-title">Conversations</h1>
          <Button icon="trash" class="to-end" onClick={() => setForgetting(true)} label="Forget…" />
        </div>
        <Filters text={text} />
        {text.trim() === '' ? <Sessions chosen={chosen} /> : <FoundTurns text={text} />}
      </section>
      <section class="item-pane" aria-label="The conversation" key={chosen ?? ''}>
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

/** The filters in the address. `until` includes the whole day. */
export function turnFilters() {
  const scope = query.value.get('scope')
  const until = query.value.get('until')
  return { ...(scope === null ? {} : { scope: [scope] }), ...(until === null ? {} : { until: endOfDay(until) }) }
}

function Filters({ text }: { readonly text: string }) {
  return (
    <search class="filter-bar sticky stack tight" aria-label="Conversations">
      <SearchBox
        label="Search conversations"
        placeholder="Ask, or search for words"
        maxLength={2_000}
        text={text}
        onChange={(q) => setQuery({ q })}
      />
      <div class="row">
        <QuerySelect
          label="Project"
          name="scope"
          options={[
            ['', 'All projects'],
            ...(scopes.value?.items ?? []).map((known) => [known.scope, known.scope] as const),
          ]}
        />
        <label class="row small to-end">
          As of
          <input
            class="select"
            type="date"
            value={query.value.get('until') ?? ''}
            onChange={(event) => setQuery({ until: event.currentTarget.value })}
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
  // Also loads the row before the page, to see whether the first row starts a new day.
  const load = async (offset: number, limit: number, signal: AbortSignal) => {
    const before = offset === 0 ? 0 : 1
    const window = { limit: limit + before, offset: offset - before }
    const { items } = await ask('listConversations', { query: { ...filters, ...window }, signal })
    return items.slice(before).map((hit, at) => {
      const day = dayOf(hit.lastAt, hit.utcOffset)
      const previous = items[at + before - 1]
      return { one: hit, isNewDay: previous === undefined || dayOf(previous.lastAt, previous.utcOffset) !== day }
    })
  }
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={8} label="Loading conversations" />}>
      {(total) =>
        total === 0 ? (
          <EmptyState icon="chat" title="No conversations yet">
            <p>What you say to a connected agent is stored here, on this machine.</p>
            <code class="command box">{commandLine('connect claude-code')}</code>
          </EmptyState>
        ) : (
          <VirtualPages key={key} total={total} freshness={journalHead.value} defaultHeight={76} load={load}>
            {(rows: Awaited<ReturnType<typeof load>>) => (
              <ul>
                {rows.map(({ one, isNewDay }) => (
                  <Fragment key={one.session}>
                    {isNewDay ? <li class="group-title">{namedDay(one.lastAt, one.utcOffset)}</li> : null}
                    <SessionRow one={one} isChosen={one.session === chosen} />
                  </Fragment>
                ))}
              </ul>
            )}
          </VirtualPages>
        )
      }
    </Loaded>
  )
}

const SessionRow = ({ one, isChosen }: { readonly one: Session; readonly isChosen: boolean }) => (
  <li class="belief-row">
    <Link
      class="belief-link"
      href={withQuery({ turn: null }, address('conversations', one.session))}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span class="belief-name">
        <Clipped text={one.opening === '' ? one.session : one.opening} />
      </span>
      <span class="belief-meta">
        <span>{pluralize(one.turns, 'turn')}</span>
        {one.scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
        <span class="to-end">{one.hosts.join(', ')}</span>
      </span>
    </Link>
  </li>
)

type Hit = RouteAnswer<'search'>['quotes'][number]

/** The sentences that match the search best, with the strength of the match and the messages around them. */
function FoundTurns({ text }: { readonly text: string }) {
  const { scope, until } = turnFilters()
  const filters = { ...(scope === undefined ? {} : { scope }), ...(until === undefined ? {} : { asOf: until }) }
  const found = useResource(
    JSON.stringify([text, filters]),
    (signal) => ask('search', { query: { q: text, in: 'turns', limit: 30, ...filters }, signal }),
    { freshness: journalHead.value, keep: true },
  )
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={6} label="Searching" />}>
      {({ quotes }) =>
        quotes.length === 0 ? (
          <EmptyState icon="filter" title="No message matches" />
        ) : (
          <ul aria-busy={found.isLoading}>
            {quotes.map((hit) => (
              <Found key={`${hit.turn}-${hit.text}`} hit={hit} />
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

function Found({ hit }: { readonly hit: Hit }) {
  const [around, setAround] = useState<RouteAnswer<'getTurn'> | null>(null)
  const show = async () => setAround(await ask('getTurn', { params: { id: hit.turn }, query: { around: 1 } }))
  return (
    <li class="found-turn">
      <Link class="belief-link" href={withQuery({ turn: hit.turn }, address('conversations', hit.session))}>
        <span class="belief-meta">
          <span>{reporterOf(hit) ?? hit.speaker ?? speakers[hit.role]}</span>
          <time dateTime={hit.at}>{dateTimeText(hit.at, hit.utcOffset)}</time>
          <StrengthChip strength={hit.strength} />
          <AgeBadge earlier={hit.earlier} correctedAt={hit.correctedAt} />
        </span>
        <span class="prose" dir="auto">
          <Highlighted text={hit.text} ranges={rangesOf(hit.text, hit.found)} />
        </span>
        {hit.correction === null ? null : (
          <span class="small" dir="auto">
            Now: {hit.correction.content}
          </span>
        )}
        {hit.found.length > 0 ? null : <span class="soft small">{nearWords(hit.explanation)}</span>}
      </Link>
      {around === null ? (
        <Button
          tone="quiet"
          class="small"
          onClick={show}
          aria-label={`Show the messages around it: ${hit.text}`}
          label="Show the messages around it"
        />
      ) : (
        <div class="chat pad">
          {[...around.before, around.turn, ...around.after].map((turn) => (
            <p key={turn.id} class={`bubble ${turn.role} small clamp`} dir="auto">
              {turn.text}
            </p>
          ))}
        </div>
      )}
    </li>
  )
}

/** Why a sentence without any of the words was found. */
const nearWords = (explanation: Hit['explanation']): string =>
  isFoundByNeighbour(explanation)
    ? 'A message next to it contains these words.'
    : 'It contains none of the words, but its meaning is close.'

const isFoundByNeighbour = ({ label, parts }: Hit['explanation']): boolean =>
  label.startsWith('around') || parts.some(isFoundByNeighbour)

/** The ranges of the words in a text that start with one of `words`. Those may be stems. Ignores case. */
function rangesOf(text: string, words: readonly string[]): readonly TextRange[] {
  const lower = text.toLowerCase()
  return words.flatMap((word) => {
    const ranges: TextRange[] = []
    for (
      let at = lower.indexOf(word.toLowerCase());
      at >= 0 && word !== '';
      at = lower.indexOf(word.toLowerCase(), at + 1)
    )
      ranges.push({
        start: at,
        end: at + (/^[\p{L}\p{N}]*/u.exec(lower.slice(at + word.length))?.[0].length ?? 0) + word.length,
      })
    return ranges
  })
}
