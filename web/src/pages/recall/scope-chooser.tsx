import { useState } from 'preact/hooks'
import { count } from '../../format/numbers.ts'
import { scopes } from '../../state/memory-facts.ts'
import { Button } from '../../ui/button.tsx'
import { activeScopes, chooseScopes, chosenScopes, toggleScope } from './recall-state.ts'

/** More are found by typing. */
const mostShown = 12

/** Where the agent works: which scopes are in view. Their ancestors are too. */
export function ScopeChooser() {
  const [typed, setTyped] = useState('')
  const known = scopes.value?.items ?? []
  const active = activeScopes.value
  const others = active
    .filter((scope) => !known.some((one) => one.scope === scope))
    .map((scope) => ({ scope, beliefs: 0 }))
  const sorted = [...others, ...known].sort(
    (one, other) =>
      Number(active.includes(other.scope)) - Number(active.includes(one.scope)) || other.beliefs - one.beliefs,
  )
  const add = (event: Event) => {
    event.preventDefault()
    const scope = typed.trim()
    if (scope !== '' && !active.includes(scope)) toggleScope(scope)
    setTyped('')
  }
  return (
    <fieldset class="scopes">
      <legend class="label">Scopes in view</legend>
      <div class="chips">
        {sorted.slice(0, Math.max(mostShown, active.length)).map(({ scope, beliefs }) => (
          <button
            key={scope}
            type="button"
            class="scope-chip"
            aria-pressed={active.includes(scope)}
            onClick={() => toggleScope(scope)}
          >
            {scope} <span class="number soft">{count(beliefs)}</span>
          </button>
        ))}
        <form class="chip-form" onSubmit={add}>
          <input
            class="input"
            aria-label="Another scope"
            placeholder="Another scope"
            list="recall-scopes"
            maxLength={200}
            autocomplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" icon="plus" class="small" aria-label="Add scope" />
        </form>
        <datalist id="recall-scopes">
          {known.map(({ scope }) => (
            <option key={scope} value={scope} />
          ))}
        </datalist>
        {chosenScopes.value === null ? null : (
          <Button tone="quiet" class="small" onClick={() => chooseScopes(null)}>
            Reset
          </Button>
        )}
      </div>
    </fieldset>
  )
}
