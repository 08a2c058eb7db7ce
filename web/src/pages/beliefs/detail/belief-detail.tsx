import type { ComponentChildren } from 'preact'
import type { ApiBelief, ApiProposal as ProposalValue } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { journalHead } from '../../../api/live.ts'
import { counted } from '../../../format/numbers.ts'
import { subtypeWords, typeWords } from '../../../format/words.ts'
import { useKeys } from '../../../navigation/keys.ts'
import { Link } from '../../../navigation/link.tsx'
import { address } from '../../../navigation/match.ts'
import { goBackTo, navigate, withQuery } from '../../../navigation/router.ts'
import { useResource } from '../../../state/resource.ts'
import { useSubject } from '../../../state/subject.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { EmptyState, FailedState } from '../../../ui/notice.tsx'
import { SkeletonBlock, SkeletonRows } from '../../../ui/skeleton.tsx'
import { stateOf } from '../belief-state.ts'
import { forgetNow, isBeingForgotten, keepIt } from '../dialogs/forgetting.ts'
import { BeliefActions } from './belief-actions.tsx'
import { AliasEditor, ScopeEditor } from './belief-chips.tsx'
import { Chain } from './chain.tsx'
import { Connections } from './connections.tsx'
import { HistoryTimeline } from './history-timeline.tsx'
import { Candidate, Proposal } from './proposal.tsx'
import { Provenance } from './provenance.tsx'
import { WhyEditor } from './why-editor.tsx'

/** One belief, whole. What is being edited stays as it is while the rest keeps up with the store. */
export function BeliefDetail({ id }: { readonly id: string }) {
  const freshness = journalHead.value
  const found = useResource(id, (signal) => ask('getBelief', { params: { id }, signal }), { freshness })
  // Shown together: what comes later would move the rest.
  const history = useResource(
    id,
    async (signal) => {
      const params = { id }
      const [past, links] = await Promise.all([
        ask('beliefHistory', { params, signal }),
        ask('beliefLinks', { params, signal }),
      ])
      return { ...past, links }
    },
    { freshness },
  )
  const close = () => goBackTo(withQuery({}, '/beliefs'))
  useKeys({ Escape: { does: 'Close', act: close } })
  useSubject(found.value?.belief.name ?? null)
  if (found.value === null && found.error?.status === 404)
    return (
      <EmptyState icon="question" title="This belief is not here">
        <p>It may have been forgotten, or the address is not right.</p>
        <Button onClick={close}>Back to the list</Button>
      </EmptyState>
    )
  if (found.value === null && found.error !== null) return <FailedState error={found.error} retry={found.reload} />
  if (found.value === null) return <SkeletonBlock kind="detail" label="Loading the belief" />
  const { belief, proposals } = found.value
  const [own] = proposals
  const chain = history.value?.chain ?? []
  return (
    <article class="detail" aria-busy={found.isLoading}>
      <Button tone="quiet" icon="back" class="back-button" onClick={close}>
        All beliefs
      </Button>
      <GoneNote isGone={found.error?.status === 404} />
      <ForgettingNote belief={belief} />
      <header class="detail-head">
        <h2 class="break" dir="auto">
          {belief.name}
        </h2>
        <Marks belief={belief} />
      </header>
      {belief.proposedFor === null ? <BeliefActions belief={belief} chainLength={chain.length} /> : null}
      {belief.proposedFor === null ? (
        <Whole belief={belief} proposals={proposals} />
      ) : (
        <section class="detail-part waiting" aria-label="Proposal">
          {own === undefined ? null : <Proposal value={own} shownOn={belief.id} onDecided={goTo} />}
        </section>
      )}
      <Loaded resource={history} waiting={<SkeletonRows rows={3} label="Loading the history" />}>
        {({ revisions, revisionCount, chain: line, links }) => (
          <>
            <Connections belief={belief} links={links} />
            <Part title="Provenance">
              <Provenance belief={belief} />
            </Part>
            {line.length < 2 ? null : (
              <Part title="Supersession">
                <Chain chain={line} current={belief.id} />
              </Part>
            )}
            <Part title="History">
              <HistoryTimeline
                revisions={revisions}
                total={revisionCount}
                known={[links.settledBy, links.replacedBy].filter((one) => one !== null)}
              />
            </Part>
          </>
        )}
      </Loaded>
    </article>
  )
}

function Whole({ belief, proposals }: { readonly belief: ApiBelief; readonly proposals: readonly ProposalValue[] }) {
  return (
    <>
      {belief.candidate ? (
        <section class="detail-part waiting" aria-label="Candidate">
          <Candidate belief={belief} onRejected={() => navigate(withQuery({}, '/beliefs'), { replace: true })} />
        </section>
      ) : null}
      {proposals.length === 0 ? null : (
        <section class="detail-part waiting" aria-label="Proposals">
          <h3 class="part-title">{counted(proposals.length, 'proposal')} waiting</h3>
          {proposals.map((proposal) => (
            <Proposal key={proposal.proposal.id} value={proposal} shownOn={belief.id} onDecided={goTo} />
          ))}
        </section>
      )}
      <p class="prose content" dir="auto">
        {belief.content}
      </p>
      <WhyEditor belief={belief} />
      <Part title="Also known as">
        <AliasEditor belief={belief} />
      </Part>
      <Part title="Holds in">
        <ScopeEditor belief={belief} />
      </Part>
    </>
  )
}

const goTo = (id: string): void => {
  if (id !== '') navigate(withQuery({}, address('beliefs', id)), { replace: true })
}

function Marks({ belief }: { readonly belief: ApiBelief }) {
  const state = stateOf(belief)
  return (
    <p class="row marks">
      <Badge>{typeWords[belief.type]}</Badge>
      {belief.subtype === null ? null : <Badge>{subtypeWords[belief.subtype]}</Badge>}
      {state === null ? <Badge tone="good">current</Badge> : <Badge tone={state.tone}>{state.word}</Badge>}
      {belief.pinned ? (
        <Badge tone="accent">
          <Icon name="pin" size={12} /> pinned
        </Badge>
      ) : null}
      {/* Elsewhere they stand under "Holds in", where they can be changed. */}
      {belief.proposedFor === null ? null : belief.scopes.map((scope) => <Badge key={scope}>{scope}</Badge>)}
      {belief.supersededBy === null ? null : (
        <Link href={address('beliefs', belief.supersededBy)}>See what replaced it</Link>
      )}
    </p>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="detail-part">
      <h3 class="part-title">{title}</h3>
      {children}
    </section>
  )
}

const GoneNote = ({ isGone }: { readonly isGone: boolean }) =>
  isGone ? (
    <p class="refused" role="alert">
      <Icon name="warn" /> This belief was forgotten or withdrawn elsewhere. This is its last known state.
    </p>
  ) : null

function ForgettingNote({ belief }: { readonly belief: ApiBelief }) {
  if (!isBeingForgotten(belief.id)) return null
  return (
    <div class="refused forgetting" role="status">
      <Icon name="trash" />
      <span>This belief will be erased in a few seconds.</span>
      <Button class="small" onClick={() => keepIt(belief.id)}>
        Keep it
      </Button>
      <Button class="small" tone="danger" onClick={() => void forgetNow(belief.id)}>
        Forget now
      </Button>
    </div>
  )
}
