import { useState } from 'preact/hooks'
import { type BeliefType, beliefTypes } from '../../../../../src/beliefs/belief.ts'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { typeWords } from '../../../format/words.ts'
import { address } from '../../../navigation/match.ts'
import { navigate } from '../../../navigation/router.ts'
import { make } from '../../../state/changes.ts'
import { health, scopes } from '../../../state/memory-facts.ts'
import { Choice, Field, TextArea } from '../../../ui/field.tsx'
import { FormDialog } from '../../../ui/form-dialog.tsx'

const outcomes = {
  remembered: 'Remembered.',
  reinforced: 'Already known; it is counted again.',
  corrected: 'Remembered. It replaces the belief of this name.',
  proposed: 'Proposed.',
} as const

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** What has this name in this scope already. It would be replaced. */
async function holderOf(name: string, scope: string): Promise<ApiBelief | null> {
  const query = { query: name.trim().slice(0, 2_000), scope: [scope], current: true, limit: 20 }
  const found = await ask('listBeliefs', { query }).catch(() => null)
  const isSame = ({ belief }: { readonly belief: ApiBelief }) => belief.name.toLowerCase() === name.trim().toLowerCase()
  return found?.items.find(isSame)?.belief ?? null
}

const Existing = ({ belief }: { readonly belief: ApiBelief }) => (
  <div class="changed-note" role="alert">
    <p>
      <b>{belief.name}</b> already says: “{belief.content}” Your text would replace it. Choose another name to keep
      both.
    </p>
  </div>
)

/** Something new to remember. */
export function CreateDialog({ onClose, scope }: { readonly onClose: () => void; readonly scope: string | null }) {
  const [name, setName] = useState('')
  const [content, setContent] = useState('')
  const [why, setWhy] = useState('')
  const [aliases, setAliases] = useState('')
  const [type, setType] = useState<BeliefType>('entity')
  const [place, setPlace] = useState(scope ?? health.value?.homeScopes[0] ?? 'user:universal')
  const [participants, setParticipants] = useState('')
  const [relation, setRelation] = useState('')
  const [existing, setExisting] = useState<ApiBelief | null>(null)
  const save = async () => {
    const held = existing === null ? await holderOf(name, place.trim()) : null
    if (held !== null && held.content.trim() !== content.trim()) {
      setExisting(held)
      return null
    }
    const { result, error } = await make(
      ({ outcome }) => outcomes[outcome],
      () =>
        ask('createBelief', {
          body: {
            name,
            content,
            type,
            scopes: [place.trim()],
            ...(why.trim() === '' ? {} : { why }),
            aliases: listOf(aliases),
            ...(type === 'relation' ? { participants: listOf(participants), relation: relation.trim() || null } : {}),
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
        value={name}
        onInput={(next) => {
          setName(next)
          setExisting(null)
        }}
        maxLength={200}
        placeholder="staging database"
        help="What people call it. It is recalled when a message says this."
        isRequired
      />
      <TextArea label="What is true" value={content} onInput={setContent} maxLength={10_000} isRequired />
      <div class="two">
        <Choice
          label="Type"
          value={type}
          options={beliefTypes.map((one) => [one, typeWords[one]] as const)}
          onChoose={setType}
        />
        <Field
          label="Scope"
          value={place}
          onInput={setPlace}
          maxLength={200}
          suggestions={(scopes.value?.items ?? []).map((one) => one.scope)}
          isRequired
        />
      </div>
      {type === 'relation' ? (
        <div class="two">
          <Field
            label="Who or what it connects"
            value={participants}
            onInput={setParticipants}
            maxLength={2_000}
            help="Names of beliefs, separated by commas."
          />
          <Field
            label="Relation"
            value={relation}
            onInput={setRelation}
            maxLength={200}
            placeholder="works for"
            help="In a word or two. Optional."
          />
        </div>
      ) : null}
      <Field
        label="Other names"
        value={aliases}
        onInput={setAliases}
        maxLength={2_000}
        help="Separated by commas. Optional."
      />
      <TextArea
        label="Why it matters"
        value={why}
        onInput={setWhy}
        maxLength={4_000}
        help="What an agent should do about it. Optional."
      />
    </FormDialog>
  )
}
