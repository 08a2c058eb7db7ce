import type { ApiNearMiss } from '../../../../src/http/api/contract.ts'
import { counted } from '../../format/numbers.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { Badge } from '../../ui/badge.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Head, type OnWish } from './context-view.tsx'
import { reasonWords } from './reason-words.ts'

type LeftOutProps = { readonly misses: readonly ApiNearMiss[]; readonly onWish: OnWish }

/** Old versions and proposals are left out by their nature: nothing about them would have to change. */
const isPast = ({ reason: { kind } }: ApiNearMiss): boolean =>
  kind === 'superseded' || kind === 'resolved' || kind === 'proposed' || kind === 'candidate'

/** What the message mentions and the agent does not get, and why. Old versions are folded away. */
export function LeftOutView({ misses, onWish }: LeftOutProps) {
  if (misses.length === 0) return null
  const present = misses.filter((miss) => !isPast(miss))
  const past = misses.filter(isPast)
  return (
    <section class="panel tier aside">
      <header class="tier-head">
        <h2>Left out</h2>
        <span class="soft small">Mentioned, but not given to the agent</span>
        <Badge>{misses.length}</Badge>
      </header>
      <ul>
        {present.map((miss) => (
          <li key={miss.belief.id} class="recalled">
            <Head belief={miss.belief} onWish={onWish} wish="present" />
            <p class="clip" dir="auto">
              {miss.belief.content}
            </p>
            <Why miss={miss} />
          </li>
        ))}
      </ul>
      {past.length === 0 ? null : (
        <details class="past-versions">
          <summary>{counted(past.length, 'old version or proposal', 'old versions and proposals')}</summary>
          <ul>
            {past.map((miss) => (
              <li key={miss.belief.id} class="recalled">
                <div class="recalled-head">
                  <Link class="recalled-name break" href={address('beliefs', miss.belief.id)}>
                    <bdi>{miss.belief.name}</bdi>
                  </Link>
                </div>
                <p class="clip" dir="auto">
                  {miss.belief.content}
                </p>
                <Why miss={miss} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

const Why = ({ miss }: { readonly miss: ApiNearMiss }) => (
  <p class="reason">
    <Icon name="filter" size={14} /> <span>{reasonWords(miss.reason)}</span>
  </p>
)
