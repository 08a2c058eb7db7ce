import { isInstallation } from '../state/memory-facts.ts'
import type { IconName } from '../ui/icon.tsx'

/** A page that the sidebar, the keys and the palette lead to. */
export type Place = {
  readonly href: string
  readonly name: string
  readonly icon: IconName
  /** About the directory that is served: of no use to a person with a memory on somebody's server. */
  readonly isOfInstallation?: true
}

const allPlaces: readonly Place[] = [
  { href: '/', name: 'Home', icon: 'home' },
  { href: '/recall', name: 'Recall', icon: 'recall' },
  { href: '/beliefs', name: 'Beliefs', icon: 'beliefs' },
  { href: '/review', name: 'Review', icon: 'inbox' },
  { href: '/conversations', name: 'Conversations', icon: 'chat' },
  { href: '/evaluation', name: 'Evaluation', icon: 'evaluation', isOfInstallation: true },
  { href: '/growth', name: 'Over time', icon: 'growth' },
  { href: '/journal', name: 'Journal', icon: 'journal' },
  { href: '/hosts', name: 'Hosts', icon: 'hosts', isOfInstallation: true },
  { href: '/health', name: 'Health', icon: 'health', isOfInstallation: true },
  { href: '/people', name: 'People', icon: 'people' },
]

/** The pages that are open to the person who is signed in. */
export const places = (): readonly Place[] =>
  allPlaces.filter(({ isOfInstallation }) => isOfInstallation !== true || isInstallation())
