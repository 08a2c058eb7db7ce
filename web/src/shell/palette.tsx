import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api/client.ts'
import { shortDay } from '../format/time.ts'
import { knownKeys } from '../navigation/keys.ts'
import { address } from '../navigation/match.ts'
import { navigate } from '../navigation/router.tsx'
import { isInstallation } from '../state/facts.ts'
import { useResource } from '../state/resource.ts'
import { nextTheme } from '../state/window.ts'
import { Clipped, Icon, type IconName, turnAddress } from '../ui/elements.tsx'
import { Dialog } from '../ui/form.tsx'

/** A page with a link in the sidebar and the palette, and a key. */
export type Place = {
  readonly href: string
  readonly name: string
  readonly icon: IconName
  /** Shown only to the owner of the served directory, not to other people with a memory on this server. */
  readonly isOfInstallation?: true
}

const allPlaces: readonly Place[] = [
  { href: '/', name: 'Home', icon: 'home' },
  { href: '/recall', name: 'Recall', icon: 'recall' },
  { href: '/beliefs', name: 'Beliefs', icon: 'beliefs' },
  { href: '/review', name: 'Review', icon: 'inbox' },
  { href: '/conversations', name: 'Conversations', icon: 'chat' },
  { href: '/evaluation', name: 'Evaluation', icon: 'evaluation', isOfInstallation: true },
  { href: '/journal', name: 'Journal', icon: 'journal' },
  { href: '/status', name: 'Status', icon: 'status' },
  { href: '/people', name: 'People', icon: 'people' },
]

/** The pages that the signed-in person may use. */
export const visiblePlaces = (): readonly Place[] =>
  allPlaces.filter(({ isOfInstallation }) => isOfInstallation !== true || isInstallation())

const isKeysHelpOpen = signal(false)

export const openKeysHelp = (): void => {
  isKeysHelpOpen.value = true
}

const shown: Readonly<Record<string, string>> = { Escape: 'Esc', ArrowDown: '↓', ArrowUp: '↑', Enter: '↵' }

/** A dialog with the keys of this page. */
export function KeysHelp() {
  if (!isKeysHelpOpen.value) return null
  const close = () => {
    isKeysHelpOpen.value = false
  }
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <dl class="columns">
        {[...knownKeys(), ['Ctrl K', 'Go to anything by name'] as const].map(([key, does]) => (
          <div key={key} class="row">
            <dt>
              <kbd>{shown[key] ?? key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

const isPaletteOpen = signal(false)

export const openPalette = (): void => {
  isPaletteOpen.value = true
}

type Entry = {
  readonly key: string
  readonly name: string
  readonly note: string
  readonly icon: IconName
  readonly onClick: () => void
}

const actions: readonly Entry[] = [
  { key: 'new', name: 'New belief', note: 'Action', icon: 'plus', onClick: () => navigate('/beliefs?new=yes') },
  {
    key: 'never',
    name: 'Beliefs that were never recalled',
    note: 'View',
    icon: 'filter',
    onClick: () => navigate('/beliefs?recalled=never'),
  },
  { key: 'theme', name: 'Change the theme', note: 'Action', icon: 'moon', onClick: nextTheme },
  {
    key: 'keys',
    name: 'Keyboard shortcuts',
    note: 'Action',
    icon: 'keys',
    onClick: openKeysHelp,
  },
]

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return
  event.preventDefault()
  isPaletteOpen.value = !isPaletteOpen.peek()
})

/** Finds pages, actions, beliefs and messages by name. */
export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null
}

function OpenPalette() {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const close = () => {
    isPaletteOpen.value = false
  }
  const found = useResource(text.trim(), (abort) => search(text.trim(), abort), { keep: true })
  const wanted = text.trim().toLowerCase()
  const pages = visiblePlaces().map(({ href, name, icon }) => ({
    key: href,
    name,
    note: 'Page',
    icon,
    onClick: () => navigate(href),
  }))
  const named = [...pages, ...actions].filter(({ name }) => name.toLowerCase().includes(wanted))
  const entries = [...named, ...(found.value ?? [])]
  const here = Math.min(at, Math.max(0, entries.length - 1))
  useEffect(() => setAt(0), [text])
  useEffect(() => document.getElementById(`palette-${here}`)?.scrollIntoView({ block: 'nearest' }), [here])
  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return
    close()
    entry.onClick()
  }
  return (
    <Dialog title="Go to" onClose={close}>
      <input
        class="input"
        role="combobox"
        aria-label="Page, belief, conversation or action"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={entries.length === 0 ? undefined : `palette-${here}`}
        placeholder="Page, belief, conversation or action"
        autocomplete="off"
        spellcheck={false}
        maxLength={500}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(entries.length - 1, here + 1))
          else if (event.key === 'ArrowUp') setAt(Math.max(0, here - 1))
          else if (event.key === 'Enter') choose(entries[here])
          else return
          event.preventDefault()
        }}
      />
      <div class="palette" id="palette-entries" role="listbox" aria-label="Results">
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys, as in every combobox.
          <div
            key={entry.key}
            id={`palette-${index}`}
            class="palette-entry"
            role="option"
            tabIndex={-1}
            aria-selected={index === here}
            onClick={() => choose(entry)}
          >
            <Icon name={entry.icon} />
            <Clipped text={entry.name} />
            <Clipped text={entry.note} class="soft small" />
          </div>
        ))}
        {entries.length === 0 ? <p class="soft pad">Nothing found.</p> : null}
      </div>
    </Dialog>
  )
}

async function search(text: string, signal: AbortSignal): Promise<readonly Entry[]> {
  if (text.length < 2) return []
  const [beliefs, said] = await Promise.all([
    ask('listBeliefs', { query: { query: text, current: true, limit: 6 }, signal }),
    ask('search', { query: { q: text, in: 'turns', limit: 4 }, signal }),
  ])
  return [
    ...beliefs.items.map(({ belief }) => ({
      key: belief.id,
      name: belief.name,
      note: belief.content,
      icon: 'beliefs' as const,
      onClick: () => navigate(address('beliefs', belief.id)),
    })),
    // The search returns its best hits even if no word matches. Weak hits without a matching word are left out.
    ...said.quotes
      .filter(({ found, strength }) => found.length > 0 || strength !== 'possible')
      .map((quote) => ({
        key: `${quote.turn}-${quote.text}`,
        name: quote.text,
        note: `Said on ${shortDay(quote.at, quote.utcOffset)}`,
        icon: 'chat' as const,
        onClick: () => navigate(turnAddress({ session: quote.session, id: quote.turn })),
      })),
  ]
}
