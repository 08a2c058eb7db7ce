import { useState } from 'preact/hooks'
import { reporterOf } from '../../../../src/beliefs/turn.ts'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { journalHead } from '../../api/live.ts'
import type { Stretch } from '../../format/pieces.ts'
import { moment } from '../../format/time.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { withQuery } from '../../navigation/router.ts'
import { useResource } from '../../state/resource.ts'
import { AgeBadge } from '../../ui/age-badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Highlighted } from '../../ui/highlighted.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EmptyState } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { StrengthChip } from '../recall/strength-chip.tsx'
import { turnFilters } from './conversations-page.tsx'
import { speakers } from './session-view.tsx'

type Hit = RouteAnswer<'search'>['quotes'][number]

/** The sentences that answer the words best, with their strength and the messages around them. */
export function FoundTurns({ text }: { readonly text: string }) {
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
          <EmptyState icon="filter" title="Nothing was said with these words" />
        ) : (
          <ul class="belief-rows" aria-busy={found.isLoading}>
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
    <li class="belief-row found-turn">
      <Link class="belief-link" href={withQuery({ turn: hit.turn }, address('conversations', hit.session))}>
        <span class="belief-meta">
          <span>{reporterOf(hit) ?? hit.speaker ?? speakers[hit.role]}</span>
          <time dateTime={hit.at}>{moment(hit.at, hit.utcOffset)}</time>
          <StrengthChip strength={hit.strength} />
          <AgeBadge earlier={hit.earlier} correctedAt={hit.correctedAt} />
        </span>
        <span class="prose" dir="auto">
          <Highlighted text={hit.text} stretches={stretchesOf(hit.text, hit.found)} />
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
          onClick={() => void show()}
          aria-label={`Show the messages around it: ${hit.text}`}
        >
          Show the messages around it
        </Button>
      ) : (
        <div class="chat around">
          {[...around.before, around.turn, ...around.after].map((turn) => (
            <p key={turn.id} class={`bubble ${turn.role} small clip-four`} dir="auto">
              {turn.text}
            </p>
          ))}
        </div>
      )}
    </li>
  )
}

/** Why something is found that has none of the words. */
const nearWords = (explanation: Hit['explanation']): string =>
  isBeside(explanation) ? 'A message beside it has these words.' : 'It has other words, close in meaning.'

const isBeside = ({ label, parts }: Hit['explanation']): boolean =>
  label.endsWith('(beside it)') || parts.some(isBeside)

/** Where words begin with one of these, which may be stems, whatever their case. */
export function stretchesOf(text: string, words: readonly string[]): readonly Stretch[] {
  const lower = text.toLowerCase()
  return words.flatMap((word) => {
    const stretches: Stretch[] = []
    for (
      let at = lower.indexOf(word.toLowerCase());
      at >= 0 && word !== '';
      at = lower.indexOf(word.toLowerCase(), at + 1)
    )
      stretches.push({
        start: at,
        end: at + (/^[\p{L}\p{N}]*/u.exec(lower.slice(at + word.length))?.[0].length ?? 0) + word.length,
      })
    return stretches
  })
}
