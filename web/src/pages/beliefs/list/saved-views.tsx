import { signal } from '@preact/signals'
import { navigate, path, query } from '../../../navigation/router.ts'
import { say } from '../../../state/toasts.ts'
import { Button } from '../../../ui/button.tsx'

type View = { readonly name: string; readonly search: string }

const key = 'credence-views'

/** Searches and filters that somebody wants to see again. They are kept in this browser. */
const views = signal<readonly View[]>(read())

function read(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    const isView = (one: unknown): one is View =>
      typeof one === 'object' && one !== null && 'name' in one && 'search' in one
    return Array.isArray(kept) ? kept.filter(isView) : []
  } catch {
    return []
  }
}

function keep(next: readonly View[]): void {
  views.value = next
  try {
    localStorage.setItem(key, JSON.stringify(next))
  } catch {
    say('The browser keeps nothing here; the view lasts until the page is closed.', { tone: 'failed' })
  }
}

export function SavedViews() {
  const search = query.value.toString()
  const current = views.value.find((view) => view.search === search)
  const name = [...query.value.values()].join(' · ')
  return (
    <>
      {views.value.length === 0 ? null : (
        <select
          class="select"
          aria-label="Saved view"
          value={current?.search ?? ''}
          onChange={(event) => navigate(`${path.peek()}?${event.currentTarget.value}`)}
        >
          <option value="">Saved views</option>
          {views.value.map((view) => (
            <option key={view.search} value={view.search}>
              {view.name}
            </option>
          ))}
        </select>
      )}
      {search === '' ? null : current === undefined ? (
        <Button class="small" onClick={() => keep([...views.value, { name, search }])}>
          Save view
        </Button>
      ) : (
        <Button class="small" onClick={() => keep(views.value.filter((view) => view !== current))}>
          Drop view
        </Button>
      )}
    </>
  )
}
