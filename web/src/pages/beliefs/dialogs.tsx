import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { type BeliefType, beliefTypes } from '../../../../src/beliefs/belief.ts'
import type { ApiBelief } from '../../../../src/http/api/contract.ts'
import { acknowledgeEvent, ask } from '../../api/client.ts'
import { pluralize } from '../../format/numbers.ts'
import { dayOf } from '../../format/time.ts'
import { typeWords } from '../../format/words.ts'
import { address } from '../../navigation/match.ts'
import { Link, navigate, path, withQuery } from '../../navigation/router.tsx'
import { applyChange, dismissToast, showToast, toastRefusal } from '../../state/changes.ts'
import { health, scopes } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { Button, CopyButton, Prose } from '../../ui/elements.tsx'
import { Check, Choice, Dialog, Field, FormDialog, TextArea } from '../../ui/form.tsx'
import { isOpenToChange } from './belief-state.ts'

const outcomes = {
  remembered: 'Remembered.',
  reinforced: 'Already known. The repetition was counted.',
  corrected: 'Remembered. It replaces the belief with this name.',
  proposed: 'Proposed.',
} as const

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** The belief with this name in this scope. A new belief would replace it. */
async function findHolder(name: string, scope: string): Promise<ApiBelief | null> {
  const query = { query: name.trim().slice(0, 2_000), scope: [scope], current: true, limit: 20 }
  const found = await ask('listBeliefs', { query }).catch(() => null)
  const isSame = ({ belief }: { readonly belief: ApiBelief }) => belief.name.toLowerCase() === name.trim().toLowerCase()
  return found?.items.find(isSame)?.belief ?? null
}

const Existing = ({ belief }: { readonly belief: ApiBelief }) => (
  <p class="note" role="alert">
    <b>{belief.name}</b> already exists: “{belief.content}” Your text would replace it. Choose another name to keep
    both.
  </p>
)

export function CreateDialog({ onClose, scope }: { readonly onClose: () => void; readonly scope: string | null }) {
  const [type, setType] = useState<BeliefType>('entity')
  const [texts, setTexts] = useState({
    name: '',
    content: '',
    why: '',
    aliases: '',
    place: scope ?? health.value?.homeScopes[0] ?? 'user:universal',
    participants: '',
    relation: '',
  })
  const [existing, setExisting] = useState<ApiBelief | null>(null)
  const { name, content, why, aliases, place, participants, relation } = texts
  const field = (key: keyof typeof texts) => ({
    value: texts[key],
    onInput: (next: string) => {
      setTexts({ ...texts, [key]: next })
      if (key === 'name') setExisting(null)
    },
  })
  const save = async () => {
    const held = existing === null ? await findHolder(name, place.trim()) : null
    if (held !== null && held.content.trim() !== content.trim()) {
      setExisting(held)
      return null
    }
    const { result, error } = await applyChange(
      ({ outcome, hints }) => [outcomes[outcome], ...hints].join(' '),
      () =>
        ask('createBelief', {
          body: {
            name,
            content,
            type,
            scopes: [place.trim()],
            ...(why.trim() === '' ? {} : { why }),
            aliases: splitList(aliases),
            ...(type === 'relation'
              ? { participants: splitList(participants), relation: relation.trim() || null }
              : {}),
          },
        }),
    )
    if (result === null) return error
    onClose()
    navigate(address('beliefs', result.belief.id))
    return null
  }
  return (
    <FormDialog
      title="New belief"
      submit={existing === null ? 'Remember' : 'Replace it'}
      onClose={onClose}
      onSubmit={save}
    >
      {existing === null ? null : <Existing belief={existing} />}
      <Field
        label="Name"
        {...field('name')}
        maxLength={200}
        placeholder="staging database"
        help="The name that people use. A message with this name recalls the belief."
        isRequired
      />
      <TextArea label="What is true" {...field('content')} maxLength={10_000} isRequired />
      <div class="columns">
        <Choice
          label="Type"
          value={type}
          options={beliefTypes.map((type) => [type, typeWords[type]] as const)}
          onChoose={setType}
        />
        <Field
          label="Scope"
          {...field('place')}
          maxLength={200}
          suggestions={(scopes.value?.items ?? []).map((one) => one.scope)}
          isRequired
        />
      </div>
      {type === 'relation' ? (
        <div class="columns">
          <Field
            label="The people or things that it connects"
            {...field('participants')}
            maxLength={2_000}
            help="Names of beliefs, separated by commas."
          />
          <Field
            label="Relation"
            {...field('relation')}
            maxLength={200}
            placeholder="works for"
            help="In a word or two. Optional."
          />
        </div>
      ) : null}
      <Field label="Other names" {...field('aliases')} maxLength={2_000} help="Separated by commas. Optional." />
      <TextArea
        label="Why it matters"
        {...field('why')}
        maxLength={4_000}
        help="What an agent should do about it. Optional."
      />
    </FormDialog>
  )
}

/** Replaces a belief with a newer version. If the belief changes in the meantime, the typed text is kept. */
export function CorrectDialog({ belief, onClose }: { readonly belief: ApiBelief; readonly onClose: () => void }) {
  // The version that the person saw: only that one may be corrected.
  const [seen, setSeen] = useState(belief)
  const [content, setContent] = useState(belief.content)
  const [name, setName] = useState(belief.name)
  const [conflict, setConflict] = useState<{ readonly current: ApiBelief | null } | null>(null)
  const isSame = content.trim() === seen.content && name.trim() === seen.name
  const save = async (expectedVersion: number) => {
    const { result, error: refusal } = await applyChange(
      ({ outcome, hints }) =>
        [outcome === 'proposed' ? 'Proposed.' : 'Corrected. The old one is in the history.', ...hints].join(' '),
      () =>
        ask('correctBelief', {
          params: { id: belief.id },
          body: { content, expectedVersion, ...(name.trim() === seen.name ? {} : { name }) },
        }),
    )
    const isConflict =
      refusal?.code === 'conflict' && refusal.current !== null && isOutdated(refusal.current, expectedVersion)
    setConflict(isConflict ? { current: refusal.current } : null)
    if (result === null) return isConflict ? null : refusal
    onClose()
    navigate(withQuery({}, address('beliefs', result.belief.id)), { replace: true })
    return null
  }
  if (conflict !== null)
    return (
      <ConflictDialog
        current={conflict.current}
        fields={[
          { label: 'Content', theirs: conflict.current?.content ?? '', mine: content },
          ...(name.trim() === seen.name ? [] : [{ label: 'Name', theirs: conflict.current?.name ?? '', mine: name }]),
        ]}
        onKeepEditing={() => {
          if (conflict.current !== null) setSeen(conflict.current)
          setConflict(null)
        }}
        onTakeTheirs={onClose}
        onSaveMine={() => void save(conflict.current?.version ?? seen.version)}
      />
    )
  return (
    <FormDialog
      title="Correct this belief"
      submit="Replace"
      isIdle={isSame}
      onClose={onClose}
      onSubmit={() => save(seen.version)}
    >
      <p class="soft">Your text replaces it. The old statement stays in the history and is never recalled.</p>
      <TextArea label="The current statement" value={content} onInput={setContent} maxLength={10_000} isRequired />
      <Field
        label="Name"
        value={name}
        onInput={setName}
        maxLength={200}
        help="If you change the name, the old one is kept as an alias."
        isRequired
      />
    </FormDialog>
  )
}

const isOutdated = (current: ApiBelief, expectedVersion: number): boolean =>
  current.version !== expectedVersion || current.supersededBy !== null

/** Closes an open question, optionally with the decision that settles it. */
export function ResolveDialog({ question, onClose }: { readonly question: ApiBelief; readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [content, setContent] = useState('')
  const hasDecision = name.trim() !== '' || content.trim() !== ''
  const save = async () => {
    const { error } = await applyChange('Settled.', () =>
      ask('resolveBelief', { params: { id: question.id }, body: hasDecision ? { by: { name, content } } : {} }),
    )
    if (error === null) onClose()
    return error
  }
  return (
    <FormDialog title="Settle this question" submit="Settle" onClose={onClose} onSubmit={save}>
      <p class="prose soft" dir="auto">
        {question.content}
      </p>
      <Field
        label="Name of the decision"
        value={name}
        onInput={setName}
        maxLength={200}
        help="Leave both empty to close the question without one."
      />
      <TextArea label="What was decided" value={content} onInput={setContent} maxLength={10_000} />
    </FormDialog>
  )
}

/** Max messages shown; the others are only counted. */
const maxShown = 3

type ForgetDialogProps = { readonly belief: ApiBelief; readonly chainLength: number; readonly onClose: () => void }

/** Erasing cannot be undone, so this dialog shows its extent and asks for confirmation. */
export function ForgetDialog({ belief, chainLength, onClose }: ForgetDialogProps) {
  const [isWhole, setWhole] = useState(false)
  const [keepsTurns, setKeepsTurns] = useState(false)
  const { value: preview } = useResource(`forget ${belief.id} ${isWhole}`, () =>
    ask('previewForget', { params: { id: belief.id }, query: isWhole ? { wholeChain: true } : {} }),
  )
  const turns = preview?.turns ?? []
  const forget = async () => {
    forgetSoon(belief, { wholeChain: isWhole, keepTurns: keepsTurns })
    onClose()
    return null
  }
  return (
    <FormDialog title="Forget this belief?" submit="Forget" isDangerous onClose={onClose} onSubmit={forget}>
      <p class="break">
        Every text of <b>{belief.name}</b> is erased from the store, its history and its search index. The journal
        records only that something was forgotten, when and by whom. This cannot be undone.
      </p>
      {chainLength > 1 ? (
        <Check
          isChecked={isWhole}
          onCheck={setWhole}
          label={`Also its earlier and later versions (${pluralize(chainLength - 1, 'more belief')})`}
        />
      ) : null}
      {turns.length > 0 ? (
        <>
          <p>{pluralize(turns.length, 'message')} with the same statement will be erased too:</p>
          <ul class="small">
            {turns.slice(0, maxShown).map((turn) => (
              <li key={turn.id} class="clamp" dir="auto">
                {dayOf(turn.at, turn.utcOffset)}: {turn.text}
              </li>
            ))}
            {turns.length > maxShown ? <li>and {turns.length - maxShown} more</li> : null}
          </ul>
          <Check isChecked={keepsTurns} onCheck={setKeepsTurns} label="Keep these messages" />
        </>
      ) : null}
    </FormDialog>
  )
}

/** Delay before erasing, because it cannot be undone. */
const graceMs = 7_000

/** Whether other versions of the belief are erased too, and whether the messages with its statement are kept. */
type Extent = { readonly wholeChain: boolean; readonly keepTurns: boolean }

type Forgetting = Extent & {
  readonly belief: ApiBelief
  readonly timer: ReturnType<typeof setTimeout>
  readonly toast: number
}

const pending = signal<ReadonlyMap<string, Forgetting>>(new Map())

export const isBeingForgotten = (id: string): boolean => pending.value.has(id)

export function forgetSoon(belief: ApiBelief, extent: Extent): void {
  cancelForgetting(belief.id)
  const toast = showToast(`“${belief.name}” will be erased in a few seconds.`, {
    action: { label: 'Keep it', onClick: () => cancelForgetting(belief.id) },
  })
  const timer = setTimeout(() => void forgetNow(belief.id), graceMs)
  pending.value = new Map(pending.peek()).set(belief.id, { belief, ...extent, timer, toast })
}

export function cancelForgetting(id: string): void {
  const known = pending.peek().get(id)
  if (known === undefined) return
  clearTimeout(known.timer)
  dismissToast(known.toast)
  const rest = new Map(pending.peek())
  rest.delete(id)
  pending.value = rest
}

export async function forgetNow(id: string): Promise<void> {
  const known = pending.peek().get(id)
  if (known === undefined) return
  cancelForgetting(id)
  try {
    const receipt = await eraseBelief(known)
    if (receipt.beliefIds.some((gone) => path.peek() === `/beliefs/${encodeURIComponent(gone)}`))
      navigate(`/beliefs${window.location.search}`, { replace: true })
    acknowledgeEvent(receipt.event)
    const messages = receipt.turns === 0 ? '' : `, with ${pluralize(receipt.turns, 'message')}`
    showToast(
      receipt.beliefIds.length === 1 ? `Forgotten${messages}.` : `${receipt.beliefIds.length} beliefs forgotten.`,
    )
  } catch (error) {
    toastRefusal(error, 'Not forgotten: ')
  }
}

const eraseBelief = ({ belief, wholeChain, keepTurns }: Forgetting, keepalive = false) =>
  ask('forgetBelief', {
    params: { id: belief.id },
    query: { expectedVersion: belief.version, wholeChain, keepTurns },
    keepalive,
  })

// Closing the page does not cancel a pending “Forget”, but carries it out at once.
window.addEventListener('pagehide', () => {
  for (const known of pending.peek().values()) {
    clearTimeout(known.timer)
    eraseBelief(known, true).catch(() => undefined)
  }
  pending.value = new Map()
})

export type Disagreement = { readonly label: string; readonly theirs: string; readonly mine: string }

type ConflictDialogProps = {
  /** The current belief; null if it was forgotten. */
  readonly current: ApiBelief | null
  readonly fields: readonly Disagreement[]
  readonly onTakeTheirs: () => void
  readonly onSaveMine: () => void
  readonly onKeepEditing: () => void
}

/** Shown if another program or person changed the belief in the meantime. Shows both texts, so that neither is lost. */
export function ConflictDialog({ current, fields, onTakeTheirs, onSaveMine, onKeepEditing }: ConflictDialogProps) {
  const mine = fields.map((field) => field.mine).join('\n\n')
  const canSave = current !== null && isOpenToChange(current)
  return (
    <Dialog title="Changed in the meantime" onClose={onKeepEditing} isWide>
      <p>{conflictText(current)}</p>
      {fields.map(({ label, theirs, mine: own }) => (
        <div key={label} class="columns">
          <div class="box">
            <h3>{label}: theirs</h3>
            <Prose text={theirs === '' ? '(empty)' : theirs} />
          </div>
          <div class="box mine">
            <h3>{label}: yours, not saved</h3>
            <Prose text={own === '' ? '(empty)' : own} />
          </div>
        </div>
      ))}
      <div class="row actions">
        <CopyButton text={mine} label="Copy yours" />
        <Button onClick={onKeepEditing}>Keep editing</Button>
        {current?.supersededBy == null ? null : (
          <Link class="button" href={address('beliefs', current.supersededBy)} text="Go to the new version" />
        )}
        <Button onClick={onTakeTheirs}>Take theirs</Button>
        {canSave ? <Button tone="main" onClick={onSaveMine} label="Save mine" /> : null}
      </div>
    </Dialog>
  )
}

function conflictText(current: ApiBelief | null): string {
  if (current === null) return 'The belief was forgotten while you were writing. Your text is still here to copy.'
  if (current.supersededBy !== null)
    return 'The belief was replaced by a newer one while you were writing. Your text is still here to copy.'
  if (!isOpenToChange(current)) return 'The belief can no longer be changed. Your text is still here to copy.'
  return 'The belief was changed elsewhere while you were writing. Nothing is saved yet: choose a text.'
}
