import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ApiBelief, Body, ApiProposal as ProposalValue } from '../../../../src/http/api/contract.ts'
import { ask, journalHead, type Refusal } from '../../api/client.ts'
import { percent, pluralize } from '../../format/numbers.ts'
import { subtypeWords, throughWords, typeWords, whoWords } from '../../format/words.ts'
import { useKeys } from '../../navigation/keys.ts'
import { address } from '../../navigation/match.ts'
import { goBackTo, Link, navigate, withQuery } from '../../navigation/router.tsx'
import { applyChange, applyChangeOrToast } from '../../state/changes.ts'
import { scopes } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { draftOf, dropDraft, keepDraft, useSubject } from '../../state/window.ts'
import { Badge, Button, Icon, Time } from '../../ui/elements.tsx'
import { ChipEditor } from '../../ui/form.tsx'
import { EmptyState, FailedState, Loaded, Refused, SkeletonBlock, SkeletonRows } from '../../ui/notice.tsx'
import { isOpenToChange, isUnconfirmed, stateOf } from './belief-state.ts'
import {
  ConflictDialog,
  CorrectDialog,
  ForgetDialog,
  forgetNow,
  isBeingForgotten,
  keepIt,
  ResolveDialog,
} from './dialogs.tsx'
import { Chain, Connections, HistoryTimeline } from './history.tsx'
import { Candidate, Proposal } from './proposal.tsx'

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
          <h3 class="part-title">{pluralize(proposals.length, 'proposal')} waiting</h3>
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

type Open = 'correct' | 'forget' | 'resolve' | null

/** What can be done with a belief. One that is retired can only be forgotten. */
export function BeliefActions({ belief, chainLength }: { readonly belief: ApiBelief; readonly chainLength: number }) {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const isOpen = isOpenToChange(belief)
  const canConfirm = isOpen && isUnconfirmed(belief)
  const params = { id: belief.id }
  const pin = () =>
    void applyChangeOrToast(
      belief.pinned ? 'Unpinned.' : 'Pinned. It is recalled in its scope whatever the message says.',
      () => ask('editBelief', { params, body: { pinned: !belief.pinned } }),
    )
  const confirm = () => void applyChangeOrToast('Confirmed as your own.', () => ask('confirmBelief', { params }))
  const correct = () => setOpen('correct')
  const forget = () => setOpen('forget')
  useKeys({
    ...(isOpen
      ? {
          p: { does: belief.pinned ? 'Unpin' : 'Pin', act: pin },
          c: { does: 'Correct', act: correct },
          ...(canConfirm ? { y: { does: 'Confirm', act: confirm } } : {}),
          a: { does: 'Add an alias', act: () => document.querySelector<HTMLElement>('[data-chip=alias]')?.focus() },
        }
      : {}),
    f: { does: 'Forget', act: forget },
  })
  return (
    <fieldset class="row detail-actions" aria-label="Actions">
      {isOpen ? (
        <>
          <Button icon="pin" onClick={pin} aria-pressed={belief.pinned} title="Pin (p)">
            {belief.pinned ? 'Pinned' : 'Pin'}
          </Button>
          <Button icon="edit" onClick={correct} title="Correct (c)">
            Correct
          </Button>
          {canConfirm ? (
            <Button icon="check" onClick={confirm} title="Confirm it as your own (y)">
              Confirm
            </Button>
          ) : null}
          {belief.type === 'open_question' ? (
            <Button icon="question" onClick={() => setOpen('resolve')}>
              Settle
            </Button>
          ) : null}
        </>
      ) : null}
      <Button tone="danger" icon="trash" onClick={forget} title="Forget (f)">
        Forget
      </Button>
      {open === 'correct' ? <CorrectDialog belief={belief} onClose={close} /> : null}
      {open === 'forget' ? <ForgetDialog belief={belief} chainLength={chainLength} onClose={close} /> : null}
      {open === 'resolve' ? <ResolveDialog question={belief} onClose={close} /> : null}
    </fieldset>
  )
}

const edit = async (belief: ApiBelief, done: string, body: Body<'editBelief'>): Promise<Refusal | null> =>
  (await applyChange(done, () => ask('editBelief', { params: { id: belief.id }, body }))).error

/** What else it can be found by. */
export function AliasEditor({ belief }: { readonly belief: ApiBelief }) {
  return (
    <ChipEditor
      items={belief.aliases}
      noun="alias"
      placeholder="Another name"
      isReadOnly={!isOpenToChange(belief)}
      add={(alias) => edit(belief, `Also known as “${alias}” now.`, { addAliases: [alias] })}
      remove={(alias) => edit(belief, `No longer known as “${alias}”.`, { removeAliases: [alias] })}
    />
  )
}

/** Where it holds. All scopes are written at once, so the version that was seen goes along. */
export function ScopeEditor({ belief }: { readonly belief: ApiBelief }) {
  const write = (next: readonly string[], done: string) =>
    edit(belief, done, { scopes: [...next], expectedVersion: belief.version })
  return (
    <ChipEditor
      items={belief.scopes}
      noun="scope"
      placeholder="project:name"
      isReadOnly={!isOpenToChange(belief)}
      suggestions={(scopes.value?.items ?? [])
        .map(({ scope }) => scope)
        .filter((scope) => !belief.scopes.includes(scope))}
      add={(scope) => write([...belief.scopes, scope], `Holds in ${scope} too.`)}
      remove={(scope) =>
        write(
          belief.scopes.filter((one) => one !== scope),
          `No longer holds in ${scope}.`,
        )
      }
    />
  )
}

/** Where a belief came from and how sure it is. */
export function Provenance({ belief }: { readonly belief: ApiBelief }) {
  const { provenance, reinforcement } = belief
  return (
    <dl class="facts">
      <Fact name="Said by">
        {whoWords(provenance)}
        {throughWords(provenance)}, <Time at={provenance.at} />
        {provenance.model === null ? '' : `, derived by ${provenance.model}`}
      </Fact>
      <Fact name="Said again">
        {reinforcement.count === 0 ? 'not yet' : `${pluralize(reinforcement.count, 'time')}, last `}
        {reinforcement.count === 0 ? null : <Time at={reinforcement.at} />}
      </Fact>
      <Fact name="Confidence">{percent(belief.confidence)}</Fact>
      {belief.editedByPerson ? (
        <Fact name="Authority">a person has said or edited it, so agents can only propose changes</Fact>
      ) : null}
      {belief.agent === null ? null : <Fact name="Only for">the agent {belief.agent}</Fact>}
      {belief.expertise === null ? null : (
        <Fact name="Expertise">
          {belief.expertise.domain}, {belief.expertise.depth}
        </Fact>
      )}
      <Fact name="Id">
        <code>{belief.id}</code>, version {belief.version}
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="break">{children}</dd>
    </div>
  )
}

/** What an agent should do about a belief, to read and to change in place. */
export function WhyEditor({ belief }: { readonly belief: ApiBelief }) {
  const key = `why of ${belief.id}`
  const draft = draftOf(key)
  const begin = () => keepDraft(key, { text: belief.why, baseVersion: belief.version })
  const canEdit = isOpenToChange(belief)
  useKeys(canEdit && draft === null ? { e: { does: 'Edit the why', act: begin } } : {})
  const edit = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useLayoutEffect(() => {
    // The form takes the focus with it when it goes.
    if (wasEditing.current && draft === null && document.activeElement === document.body) edit.current?.focus()
    wasEditing.current = draft !== null
  }, [draft === null])
  if (draft !== null) return <WhyForm belief={belief} draftKey={key} />
  return (
    <section class="detail-part">
      <div class="part-head">
        <h3 class="part-title">Why it matters</h3>
        {canEdit ? (
          <Button ref={edit} tone="quiet" icon="edit" class="small" onClick={begin} title="Edit (e)">
            Edit
          </Button>
        ) : null}
      </div>
      {belief.why === '' ? (
        <p class="soft">Not written yet. Say what an agent should do because of this.</p>
      ) : (
        <p class="prose" dir="auto">
          {belief.why}
        </p>
      )}
    </section>
  )
}

function WhyForm({ belief, draftKey }: { readonly belief: ApiBelief; readonly draftKey: string }) {
  const draft = draftOf(draftKey)
  const [error, setError] = useState<Refusal | null>(null)
  const [conflict, setConflict] = useState<{ readonly current: ApiBelief | null } | null>(null)
  const [isBusy, setBusy] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => area.current?.focus(), [])
  const close = () => dropDraft(draftKey)
  useKeys({ Escape: { does: 'Close', act: close } })
  if (draft === null) return null
  const save = async (expectedVersion: number) => {
    setBusy(true)
    const { error: refusal } = await applyChange('Why changed.', () =>
      ask('editBelief', { params: { id: belief.id }, body: { why: draft.text, expectedVersion } }),
    )
    setBusy(false)
    const isConflict = refusal?.code === 'conflict' || refusal?.status === 404
    setConflict(isConflict ? { current: refusal.current } : null)
    setError(isConflict ? null : refusal)
    if (refusal === null) close()
  }
  return (
    <section class="detail-part">
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault()
          void save(draft.baseVersion)
        }}
      >
        <label class="part-title" for="why-text">
          Why it matters
        </label>
        <textarea
          id="why-text"
          class="area"
          dir="auto"
          ref={area}
          maxLength={4_000}
          value={draft.text}
          onInput={(event) => keepDraft(draftKey, { ...draft, text: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            void save(draft.baseVersion)
          }}
        />
        {belief.version > draft.baseVersion ? (
          <p class="changed-note" role="status">
            This belief was changed elsewhere while you are writing. Saving will show both.
          </p>
        ) : null}
        <Refused error={error} />
        <div class="row">
          <Button type="submit" tone="main" isBusy={isBusy}>
            Save
          </Button>
          <Button onClick={close}>Cancel</Button>
          <span class="soft small">What an agent should do about it. Ctrl+Enter saves.</span>
        </div>
      </form>
      {conflict === null ? null : (
        <ConflictDialog
          current={conflict.current}
          fields={[{ label: 'Why', theirs: conflict.current?.why ?? '', mine: draft.text }]}
          onKeepEditing={() => setConflict(null)}
          onTakeTheirs={close}
          onSaveMine={() => void save(conflict.current?.version ?? draft.baseVersion)}
        />
      )}
    </section>
  )
}
