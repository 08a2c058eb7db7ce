import type { ComponentChildren } from 'preact'
import type { ApiBelief, ApiProposal as ProposalValue } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { dayOf } from '../../format/time.ts'
import { throughWords, whoWords } from '../../format/words.ts'
import { address } from '../../navigation/match.ts'
import { Link } from '../../navigation/router.tsx'
import { applyChangeOrToast } from '../../state/changes.ts'
import { Button, WordDiff } from '../../ui/elements.tsx'
import { changesBetween } from './belief-state.ts'

/** The author and date of a proposal, whether its target has changed since, and the differences. */
export function ProposalText({ value }: { readonly value: ProposalValue }) {
  const { proposal, target } = value
  const isRemoval = proposal.resolvedAt !== null
  return (
    <>
      <p class="soft small">
        {whoWords(proposal.provenance)}
        {throughWords(proposal.provenance)}
        {proposal.provenance.model === null ? '' : ` with ${proposal.provenance.model}`}{' '}
        {isRemoval ? 'proposed to remove this' : 'proposed this'} on {dayOf(proposal.createdAt)}.{' '}
        {target === null ? 'The belief that it would change is no longer current.' : null}
        {target !== null && target.id !== proposal.proposedFor ? (
          <b>The belief was corrected since then. The comparison is with the current text.</b>
        ) : null}
      </p>
      {isRemoval ? (
        <Change field="to be removed" before={(target ?? proposal).content} after="" />
      ) : (
        differences(value).map(({ field, before, after }) => (
          <Change key={field} field={field} before={before} after={after} />
        ))
      )}
    </>
  )
}

type ChangeProps = { readonly field: string; readonly before: string; readonly after: string }

export const Change = ({ field, before, after }: ChangeProps) => (
  <div class="box">
    <h3>{field}</h3>
    <WordDiff before={before} after={after} />
  </div>
)

/** The changes that accepting would make to the current belief; the whole proposal if there is no current belief. */
function differences({ proposal, target, accepted }: ProposalValue) {
  if (target === null)
    return [
      { field: 'name', before: '', after: proposal.name },
      { field: 'content', before: '', after: proposal.content },
    ]
  const { status, supersededBy, reinforcement, confidence } = target
  const changes = changesBetween(target, { ...accepted, status, supersededBy, reinforcement, confidence })
  return changes.length > 0 ? changes : [{ field: 'content', before: target.content, after: proposal.content }]
}

type DecisionProps = {
  readonly accept: string
  readonly value: Undecided
  readonly onDecided?: (isAccepted: boolean) => void
  readonly children?: ComponentChildren
}

export function Decision({ accept, value, onDecided, children }: DecisionProps) {
  const onClick = async (isAccepted: boolean) => {
    if (await decide(value, isAccepted)) onDecided?.(isAccepted)
  }
  return (
    <div class="row">
      <Button tone="main" icon="check" onClick={() => onClick(true)} label={accept} />
      <Button icon="close" onClick={() => onClick(false)} label="Reject" />
      {children}
    </div>
  )
}

type ProposalProps = {
  readonly value: ProposalValue
  /** The id of the belief on whose page the proposal is shown. */
  readonly shownOn: string
  readonly onDecided: (id: string) => void
}

/** A proposed change next to the current belief, for a person to decide. */
export function Proposal({ value, shownOn, onDecided }: ProposalProps) {
  const { proposal, target } = value
  return (
    <article class="proposal stack tight">
      <ProposalText value={value} />
      <Decision
        accept={proposal.resolvedAt === null ? 'Accept' : 'Remove it'}
        value={value}
        onDecided={(isAccepted) => onDecided(isAccepted ? proposal.id : (target?.id ?? ''))}
      >
        {target === null || target.id === shownOn ? null : (
          <Link class="soft small" href={address('beliefs', target.id)} text="See the current belief" />
        )}
      </Decision>
    </article>
  )
}

type Undecided = Pick<ProposalValue, 'proposal' | 'target'>

/** Accepts or rejects a proposal or a candidate. */
export const askDecision = ({ proposal, target }: Undecided, isAccepted: boolean) => {
  const params = { id: proposal.id }
  const isOver = target !== null && !proposal.candidate && target.id !== proposal.proposedFor
  const query = isOver ? { over: target.id } : {}
  return isAccepted ? ask('acceptProposal', { params, query }) : ask('rejectProposal', { params })
}

/** Accepts or rejects, and shows a toast with an undo button. False if the server refused. */
export async function decide(value: Undecided, isAccepted: boolean): Promise<boolean> {
  const { name, candidate, resolvedAt } = value.proposal
  const accepted = candidate
    ? 'Confirmed as your own.'
    : resolvedAt === null
      ? 'Accepted. It is current now.'
      : 'Removed. It is no longer recalled.'
  const done = await applyChangeOrToast<{ readonly event: number }>(isAccepted ? accepted : `Rejected “${name}”.`, () =>
    askDecision(value, isAccepted),
  )
  return done !== null
}

const sourceWords = ({ provenance }: ApiBelief): string =>
  provenance.origin === 'file'
    ? 'Written in MEMORY.md'
    : provenance.actor === 'person' || provenance.model !== null
      ? 'Found in a conversation'
      : `${whoWords(provenance)} wants this to be remembered`

/** A statement from an agent, a conversation or MEMORY.md that waits for a person to confirm it. */
export const Candidate = ({ belief, onRejected }: { readonly belief: ApiBelief; readonly onRejected: () => void }) => (
  <article class="proposal stack tight">
    <p>{sourceWords(belief)}. It is not recalled until you confirm it.</p>
    <Decision
      accept="Confirm"
      value={{ proposal: belief, target: null }}
      onDecided={(isAccepted) => !isAccepted && onRejected()}
    />
  </article>
)
