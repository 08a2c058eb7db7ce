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
import { Badge, Button, Prose, Time } from '../../ui/elements.tsx'
import { ChipEditor } from '../../ui/form.tsx'
import { Facts } from '../../ui/layout.tsx'
import { FailedState, Loaded, MissingState, Refused, SkeletonRows } from '../../ui/notice.tsx'
import { isOpenToChange, isUnconfirmed, stateOf } from './belief-state.ts'
import {
  ConflictDialog,
  CorrectDialog,
  cancelForgetting,
  ForgetDialog,
  forgetNow,
  isBeingForgotten,
  ResolveDialog,
} from './dialogs.tsx'
import { Chain, Connections, HistoryTimeline, Part } from './history.tsx'
import { Candidate, Proposal } from './proposal.tsx'

/** One belief with its history. Text that is being edited is kept while the rest is updated. */
export function BeliefDetail({ id }: { readonly id: string }) {
  const freshness = journalHead.value
  const found = useResource(id, (signal) => ask('getBelief', { params: { id }, signal }), { freshness })
  // One resource for both, so that nothing moves when they arrive.
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
  useKeys({ Escape: { does: 'Close', onPress: close } })
  useSubject(found.value?.belief.name ?? null)
  const { value, error } = found
  if (value === null && error?.status === 404)
    return <MissingState title="There is no such belief" elsewhere={{ href: '/beliefs', name: 'Back to the list' }} />
  if (value === null && error !== null) return <FailedState error={error} retry={found.reload} />
  if (value === null) return <SkeletonRows rows={7} label="Loading the belief" />
  const { belief, proposals } = value
  return (
    <article class="detail" aria-busy={found.isLoading}>
      <Button tone="quiet" icon="back" class="back-button" onClick={close} label="All beliefs" />
      {error?.status === 404 ? (
        <p class="note bad" role="alert">
          This belief was forgotten or withdrawn elsewhere. This is its last known state.
        </p>
      ) : null}
      <ForgettingNote belief={belief} />
      <header class="stack tight">
        <h2 class="big break" dir="auto">
          {belief.name}
        </h2>
        <Marks belief={belief} />
      </header>
      {belief.proposedFor === null ? (
        <>
          <BeliefActions belief={belief} chainLength={history.value?.chain.length ?? 0} />
          <Whole belief={belief} proposals={proposals} />
        </>
      ) : (
        <Waiting label="Proposal">
          {proposals.slice(0, 1).map((own) => (
            <Proposal key={own.proposal.id} value={own} shownOn={belief.id} onDecided={goTo} />
          ))}
        </Waiting>
      )}
      <Loaded resource={history} waiting={<SkeletonRows rows={3} label="Loading the history" />}>
        {({ revisions, revisionCount, chain, links }) => (
          <>
            <Connections links={links} />
            <Part title="Provenance">
              <Provenance belief={belief} />
            </Part>
            {chain.length < 2 ? null : (
              <Part title="Supersession">
                <Chain chain={chain} current={belief.id} />
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

const Waiting = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <section class="quote odd stack" aria-label={label}>
    {children}
  </section>
)

const Whole = ({ belief, proposals }: { readonly belief: ApiBelief; readonly proposals: readonly ProposalValue[] }) => (
  <>
    {belief.candidate ? (
      <Waiting label="Candidate">
        <Candidate belief={belief} onRejected={() => navigate(withQuery({}, '/beliefs'), { replace: true })} />
      </Waiting>
    ) : null}
    {proposals.length === 0 ? null : (
      <Waiting label="Proposals">
        <h3 class="part-title">{pluralize(proposals.length, 'proposal')} waiting</h3>
        {proposals.map((proposal) => (
          <Proposal key={proposal.proposal.id} value={proposal} shownOn={belief.id} onDecided={goTo} />
        ))}
      </Waiting>
    )}
    <Prose text={belief.content} class="content" />
    <WhyEditor belief={belief} />
    <Part title="Also known as">
      <AliasEditor belief={belief} />
    </Part>
    <Part title="Scopes">
      <ScopeEditor belief={belief} />
    </Part>
  </>
)

const goTo = (id: string): void => {
  if (id !== '') navigate(withQuery({}, address('beliefs', id)), { replace: true })
}

function Marks({ belief }: { readonly belief: ApiBelief }) {
  const { word, tone } = stateOf(belief) ?? { word: 'current', tone: 'good' }
  return (
    <p class="row marks">
      <Badge>{typeWords[belief.type]}</Badge>
      {belief.subtype === null ? null : <Badge>{subtypeWords[belief.subtype]}</Badge>}
      <Badge tone={tone}>{word}</Badge>
      {belief.pinned ? <Badge tone="accent">pinned</Badge> : null}
      {/* Only for proposals: the scopes of other beliefs are in the editor below. */}
      {belief.proposedFor === null ? null : belief.scopes.map((scope) => <Badge key={scope}>{scope}</Badge>)}
      {belief.supersededBy === null ? null : (
        <Link href={address('beliefs', belief.supersededBy)}>See the new version</Link>
      )}
    </p>
  )
}

function ForgettingNote({ belief }: { readonly belief: ApiBelief }) {
  if (!isBeingForgotten(belief.id)) return null
  return (
    <div class="note bad forgetting row" role="status">
      <span class="grow">This belief will be erased in a few seconds.</span>
      <Button class="small" onClick={() => cancelForgetting(belief.id)} label="Keep it" />
      <Button class="small" tone="danger" onClick={() => forgetNow(belief.id)} label="Forget now" />
    </div>
  )
}

type Open = 'correct' | 'forget' | 'resolve' | null

/** The actions on a belief. A retired one can only be forgotten. */
function BeliefActions({ belief, chainLength }: { readonly belief: ApiBelief; readonly chainLength: number }) {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const isOpen = isOpenToChange(belief)
  const canConfirm = isOpen && isUnconfirmed(belief)
  const params = { id: belief.id }
  const pin = () =>
    applyChangeOrToast(belief.pinned ? 'Unpinned.' : 'Pinned. It is part of every context in its scopes.', () =>
      ask('editBelief', { params, body: { pinned: !belief.pinned } }),
    )
  const confirm = () => applyChangeOrToast('Confirmed as your own.', () => ask('confirmBelief', { params }))
  const correct = () => setOpen('correct')
  const forget = () => setOpen('forget')
  useKeys({
    ...(isOpen
      ? {
          p: { does: belief.pinned ? 'Unpin' : 'Pin', onPress: pin },
          c: { does: 'Correct', onPress: correct },
          ...(canConfirm ? { y: { does: 'Confirm', onPress: confirm } } : {}),
          a: {
            does: 'Add an alias',
            onPress: () => document.querySelector<HTMLElement>('[data-chip="Add alias"]')?.focus(),
          },
        }
      : {}),
    f: { does: 'Forget', onPress: forget },
  })
  return (
    <fieldset class="row" aria-label="Actions">
      {isOpen ? (
        <>
          <Button
            icon="pin"
            onClick={pin}
            aria-pressed={belief.pinned}
            title="Pin (p)"
            label={belief.pinned ? 'Pinned' : 'Pin'}
          />
          <Button icon="edit" onClick={correct} title="Correct (c)" label="Correct" />
          {canConfirm ? (
            <Button icon="check" onClick={confirm} title="Confirm it as your own (y)" label="Confirm" />
          ) : null}
          {belief.type === 'open_question' ? (
            <Button icon="question" onClick={() => setOpen('resolve')} label="Settle" />
          ) : null}
        </>
      ) : null}
      <Button tone="danger" icon="trash" onClick={forget} title="Forget (f)" label="Forget" />
      {open === 'correct' ? <CorrectDialog belief={belief} onClose={close} /> : null}
      {open === 'forget' ? <ForgetDialog belief={belief} chainLength={chainLength} onClose={close} /> : null}
      {open === 'resolve' ? <ResolveDialog question={belief} onClose={close} /> : null}
    </fieldset>
  )
}

const edit = async (belief: ApiBelief, done: string, body: Body<'editBelief'>): Promise<Refusal | null> =>
  (
    await applyChange(
      ({ hints }) => [done, ...hints].join(' '),
      () => ask('editBelief', { params: { id: belief.id }, body }),
    )
  ).error

/** Editor of the other names by which a belief is found. */
const AliasEditor = ({ belief }: { readonly belief: ApiBelief }) => (
  <ChipEditor
    items={belief.aliases}
    noun="alias"
    placeholder="Another name"
    isReadOnly={!isOpenToChange(belief)}
    add={(alias) => edit(belief, `Alias “${alias}” added.`, { addAliases: [alias] })}
    remove={(alias) => edit(belief, `Alias “${alias}” removed.`, { removeAliases: [alias] })}
  />
)

/** Editor of the scopes. A change replaces the whole list, so the request contains the version that was shown. */
function ScopeEditor({ belief }: { readonly belief: ApiBelief }) {
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
      add={(scope) => write([...belief.scopes, scope], `Added to ${scope}.`)}
      remove={(scope) =>
        write(
          belief.scopes.filter((one) => one !== scope),
          `Removed from ${scope}.`,
        )
      }
    />
  )
}

/** The source of a belief and its confidence. */
function Provenance({ belief }: { readonly belief: ApiBelief }) {
  const { provenance, reinforcement, expertise } = belief
  return (
    <Facts
      rows={[
        [
          'Said by',
          <>
            {whoWords(provenance)}
            {throughWords(provenance)}, <Time at={provenance.at} />
            {provenance.model === null ? '' : `, derived by ${provenance.model}`}
          </>,
        ],
        [
          'Said again',
          reinforcement.count === 0 ? (
            'not yet'
          ) : (
            <>
              {pluralize(reinforcement.count, 'time')}, last <Time at={reinforcement.at} />
            </>
          ),
        ],
        ['Confidence', percent(belief.confidence)],
        [
          'Authority',
          belief.editedByPerson ? 'a person stated or edited it, so agents can only propose changes' : null,
        ],
        ['Only for', belief.agent === null ? null : `the agent ${belief.agent}`],
        ['Expertise', expertise === null ? null : `${expertise.domain}, ${expertise.depth}`],
        [
          'Id',
          <>
            <code>{belief.id}</code>, version {belief.version}
          </>,
        ],
      ]}
    />
  )
}

/** The why of a belief, edited in place. */
function WhyEditor({ belief }: { readonly belief: ApiBelief }) {
  const key = `why of ${belief.id}`
  const draft = draftOf(key)
  const begin = () => keepDraft(key, { text: belief.why, baseVersion: belief.version })
  const canEdit = isOpenToChange(belief)
  useKeys(canEdit && draft === null ? { e: { does: 'Edit the why', onPress: begin } } : {})
  const edit = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useLayoutEffect(() => {
    // If the removed form had the focus, the button gets it.
    if (wasEditing.current && draft === null && document.activeElement === document.body) edit.current?.focus()
    wasEditing.current = draft !== null
  }, [draft === null])
  if (draft !== null) return <WhyForm belief={belief} draftKey={key} />
  return (
    <Part title="Why it matters">
      {belief.why === '' ? (
        <p class="soft">Not written yet. Describe what an agent should do because of this.</p>
      ) : (
        <Prose text={belief.why} />
      )}
      {canEdit ? (
        <p>
          <Button ref={edit} icon="edit" class="small" onClick={begin} title="Edit (e)" label="Edit" />
        </p>
      ) : null}
    </Part>
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
  useKeys({ Escape: { does: 'Close', onPress: close } })
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
    <section>
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
          <p class="note" role="status">
            This belief was changed elsewhere while you were writing. When you save, you will see both versions.
          </p>
        ) : null}
        <Refused error={error} />
        <div class="row">
          <Button type="submit" tone="main" isBusy={isBusy} label="Save" />
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
