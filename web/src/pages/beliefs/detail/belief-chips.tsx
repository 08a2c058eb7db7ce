import type { ApiBelief, Body } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import type { Refusal } from '../../../api/refusal.ts'
import { make } from '../../../state/changes.ts'
import { scopes } from '../../../state/memory-facts.ts'
import { ChipEditor } from '../../../ui/chip-editor.tsx'
import { isOpenToChange } from '../belief-state.ts'

const edit = async (belief: ApiBelief, done: string, body: Body<'editBelief'>): Promise<Refusal | null> =>
  (await make(done, () => ask('editBelief', { params: { id: belief.id }, body }))).error

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
