import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { journalHead } from '../../api/live.ts'
import { asRefusal } from '../../api/refusal.ts'
import { count, counted } from '../../format/numbers.ts'
import { useKeys } from '../../navigation/keys.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { navigate } from '../../navigation/router.ts'
import { useResource } from '../../state/resource.ts'
import { say } from '../../state/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EmptyState } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { decide, decideCandidate } from '../beliefs/detail/proposal.tsx'
import { ReviewCard } from './review-card.tsx'

export type ReviewItem = RouteAnswer<'review'>['items'][number]

/** Everything that waits for a person in one place, with keys and for many at once. */
export function ReviewPage() {
  const found = useResource('review', (signal) => ask('review', { query: { limit: 200 }, signal }), {
    freshness: journalHead.value,
  })
  return (
    <>
      <header class="page-head">
        <h1>Review</h1>
        <p>
          Changes proposed by agents or by edits of MEMORY.md, each compared with the current belief, and new statements
          of agents and conversations. Agents do not see them until you accept.
        </p>
      </header>
      <Loaded resource={found} waiting={<SkeletonRows rows={5} label="Loading what waits" />}>
        {({ items, total }) =>
          items.length === 0 ? (
            <div class="panel">
              <EmptyState icon="check" title="Nothing is waiting for you">
                When an agent or an edit of MEMORY.md wants to change something you said, it waits here for your
                decision.
              </EmptyState>
            </div>
          ) : (
            <Inbox items={items} total={total} />
          )
        }
      </Loaded>
    </>
  )
}

function Inbox({ items, total }: { readonly items: readonly ReviewItem[]; readonly total: number }) {
  const [at, setAt] = useState(0)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [isBusy, setBusy] = useState(false)
  const here = Math.min(at, items.length - 1)
  const current = items[here]
  const decideOn = async (item: ReviewItem, isAccepted: boolean) => {
    setBusy(true)
    await decideItem(item, isAccepted)
    setBusy(false)
  }
  const decideAll = async (isAccepted: boolean) => {
    setBusy(true)
    const wanted = items.filter(({ belief }) => chosen.has(belief.id))
    let done = 0
    for (const item of wanted) if (await decideQuietly(item, isAccepted)) done += 1
    setChosen(new Set())
    setBusy(false)
    say(`${counted(done, 'decision')} made${done < wanted.length ? `, ${count(wanted.length - done)} refused` : ''}.`)
  }
  const step = (by: number) => {
    const next = Math.max(0, Math.min(items.length - 1, here + by))
    setAt(next)
    document.querySelectorAll<HTMLElement>('.review-card')[next]?.scrollIntoView({ block: 'nearest' })
  }
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  useKeys({
    j: { does: 'Next', act: () => step(1) },
    k: { does: 'Previous', act: () => step(-1) },
    x: { does: 'Select, to decide on several at once', act: () => current !== undefined && toggle(current.belief.id) },
    a: { does: 'Accept', act: () => current !== undefined && void decideOn(current, true) },
    r: { does: 'Reject', act: () => current !== undefined && void decideOn(current, false) },
    e: {
      does: 'Open it to edit',
      act: () => current !== undefined && navigate(address('beliefs', current.belief.id)),
    },
  })
  return (
    <div class="stack">
      <div class="row review-tools">
        <label class="check">
          <input
            type="checkbox"
            checked={chosen.size === items.length}
            onChange={(event) =>
              setChosen(new Set(event.currentTarget.checked ? items.map(({ belief }) => belief.id) : []))
            }
          />
          Select all
        </label>
        <span class="soft small" role="status">
          {chosen.size > 0 ? `${count(chosen.size)} selected` : `${count(total)} waiting`}
        </span>
        <Button icon="check" disabled={chosen.size === 0} isBusy={isBusy} onClick={() => void decideAll(true)}>
          Accept selected
        </Button>
        <Button icon="close" disabled={chosen.size === 0} isBusy={isBusy} onClick={() => void decideAll(false)}>
          Reject selected
        </Button>
        <span class="soft small to-end wide-only">
          <kbd>j</kbd> <kbd>k</kbd> move · <kbd>a</kbd> accept · <kbd>r</kbd> reject · <kbd>e</kbd> edit · <kbd>x</kbd>{' '}
          select
        </span>
      </div>
      <ul class="stack">
        {items.map((item, index) => (
          <ReviewCard
            key={item.belief.id}
            item={item}
            isHere={index === here}
            isChosen={chosen.has(item.belief.id)}
            isBusy={isBusy}
            onChoose={() => toggle(item.belief.id)}
            onDecide={(isAccepted) => void decideOn(item, isAccepted)}
          />
        ))}
      </ul>
      {items.length < total ? (
        <p class="soft small">
          The first {count(items.length)} of {count(total)}. <Link href="/beliefs?show=proposals">See all</Link>
        </p>
      ) : null}
    </div>
  )
}

const asProposal = ({ belief, target, accepted }: ReviewItem) => ({ proposal: belief, target, accepted })

const decideItem = (item: ReviewItem, isAccepted: boolean): Promise<boolean> =>
  item.belief.candidate ? decideCandidate(item.belief, isAccepted) : decide(asProposal(item), isAccepted)

/** One of many: only the sum is told. */
async function decideQuietly({ belief, target }: ReviewItem, isAccepted: boolean): Promise<boolean> {
  const params = { id: belief.id }
  const over = target !== null && target.id !== belief.proposedFor ? { over: target.id } : {}
  try {
    if (isAccepted) await ask('acceptProposal', { params, query: belief.candidate ? {} : over })
    else await ask('rejectProposal', { params })
    return true
  } catch (error) {
    say(`${belief.name}: ${asRefusal(error).message}`, { tone: 'failed' })
    return false
  }
}
