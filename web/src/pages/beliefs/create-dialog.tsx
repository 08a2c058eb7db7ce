import { useState } from 'preact/hooks'
import { type BeliefType, beliefTypes } from '../../../../src/beliefs/belief.ts'
import { ask } from '../../api/client.ts'
import { typeWords } from '../../format/words.ts'
import { address } from '../../navigation/match.ts'
import { navigate } from '../../navigation/router.ts'
import { make } from '../../state/changes.ts'
import { health, scopes } from '../../state/memory-facts.ts'
import { Choice, Field, TextArea } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'

const outcomes = {
  remembered: 'Remembered.',
  reinforced: 'That was known already; it counts as confirmed.',
  corrected: 'Remembered in place of what was known under this name.',
  proposed: 'Proposed.',
} as const

/** Something new to remember. */
export function CreateDialog({ onClose, scope }: { readonly onClose: () => void; readonly scope: string | null }) {
  const [name, setName] = useState('')
  const [content, setContent] = useState('')
  const [why, setWhy] = useState('')
  const [aliases, setAliases] = useState('')
  const [type, setType] = useState<BeliefType>('entity')
  const [place, setPlace] = useState(scope ?? health.value?.homeScopes[0] ?? 'user:universal')
  const save = async () => {
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
            aliases: aliases
              .split(',')
              .map((alias) => alias.trim())
              .filter((alias) => alias !== ''),
          },
        }),
    )
    if (result === null) return error
    onClose()
    navigate(address('beliefs', result.belief.id))
    return null
  }
  return (
    <FormDialog title="New belief" submit="Remember" onClose={onClose} onSubmit={save}>
      <Field
        label="Name"
        value={name}
        onInput={setName}
        maxLength={200}
        placeholder="staging database"
        help="What people call it. It is recalled when a message says this."
        isRequired
      />
      <TextArea label="What is true" value={content} onInput={setContent} maxLength={20_000} isRequired />
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
