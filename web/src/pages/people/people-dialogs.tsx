import { useState } from 'preact/hooks'
import type { Body, Query, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, type Refusal } from '../../api/client.ts'
import { Button, CopyButton } from '../../ui/elements.tsx'
import { Choice, Dialog, Field, FormDialog } from '../../ui/form.tsx'

const maxNameLength = 64
const nameHelp = 'a-z, 0-9, dot, hyphen, underscore and @'

/** Adds a person and shows their first token. The server does not store the token. */
export function AddPerson({ onClose, onAdded }: { readonly onClose: () => void; readonly onAdded: () => void }) {
  const [name, setName] = useState('')
  const [added, setAdded] = useState<RouteAnswer<'createToken'> | null>(null)
  if (added !== null)
    return (
      <Dialog title={`Token of ${name}`} onClose={onClose}>
        <p>Send this token only to {name}: it opens their memory. It is not shown again.</p>
        <p class="row">
          <code class="command box break">{added.secret}</code>
          <CopyButton text={added.secret} />
        </p>
        <div class="row actions">
          <Button tone="main" onClick={onClose} label="Done" />
        </div>
      </Dialog>
    )
  const addPerson = async () => {
    await ask('addPerson', { body: { name } })
    onAdded()
    setAdded(await ask('createToken', { body: { person: name } }))
    return null
  }
  return (
    <FormDialog title="Add a person" submit="Add" isIdle={name === ''} onClose={onClose} onSubmit={addPerson}>
      <Field label="Name" value={name} onInput={setName} maxLength={maxNameLength} help={nameHelp} isRequired />
    </FormDialog>
  )
}

type CreateTeamProps = {
  readonly people: readonly string[]
  readonly onClose: () => void
  readonly onCreate: (team: Body<'createTeam'>) => Promise<Refusal | null>
}

export function CreateTeam({ people, onClose, onCreate }: CreateTeamProps) {
  const [name, setName] = useState('')
  const [owner, setOwner] = useState(people[0] ?? '')
  return (
    <FormDialog
      title="Create a team"
      submit="Create"
      isIdle={name === '' || owner === ''}
      onClose={onClose}
      onSubmit={() => onCreate({ name, owner })}
    >
      <Field label="Name" value={name} onInput={setName} maxLength={maxNameLength} help={nameHelp} isRequired />
      <Choice
        label="Owner, who adds the members"
        value={owner}
        options={people.map((person) => [person, person])}
        onChoose={setOwner}
      />
    </FormDialog>
  )
}

type Fate = NonNullable<NonNullable<Query<'removePerson'>>['memory']>
type RemoveProps = {
  readonly name: string
  readonly onClose: () => void
  readonly onRemove: (memory: Fate) => Promise<Refusal | null>
}

export function Remove({ name, onClose, onRemove }: RemoveProps) {
  const [memory, setMemory] = useState<Fate>('keep')
  return (
    <FormDialog title={`Remove ${name}`} submit="Remove" onClose={onClose} onSubmit={() => onRemove(memory)}>
      <p>Tokens and memberships become invalid immediately.</p>
      <Choice
        label="The memory"
        value={memory}
        options={[
          ['keep', 'is kept in the store'],
          ['erase', 'is erased for good'],
        ]}
        onChoose={setMemory}
      />
    </FormDialog>
  )
}
