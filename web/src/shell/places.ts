import type { IconName } from '../ui/icon.tsx'

/** A page that the sidebar, the keys and the palette lead to. */
export type Place = { readonly href: string; readonly name: string; readonly icon: IconName }

export const places: readonly Place[] = [
  { href: '/', name: 'Home', icon: 'home' },
  { href: '/recall', name: 'Recall', icon: 'recall' },
  { href: '/beliefs', name: 'Beliefs', icon: 'beliefs' },
  { href: '/review', name: 'Review', icon: 'inbox' },
  { href: '/conversations', name: 'Conversations', icon: 'chat' },
  { href: '/evaluation', name: 'Evaluation', icon: 'evaluation' },
  { href: '/growth', name: 'Over time', icon: 'growth' },
  { href: '/journal', name: 'Journal', icon: 'journal' },
  { href: '/hosts', name: 'Hosts', icon: 'hosts' },
  { href: '/health', name: 'Health', icon: 'health' },
  { href: '/people', name: 'People', icon: 'people' },
]
