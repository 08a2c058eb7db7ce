import { Badge } from '../../ui/badge.tsx'
import type { Strength } from './reason-words.ts'

/** How sure it is that something belongs to the message. */
export const StrengthChip = ({ strength }: { readonly strength: Strength | 'exact' }) => (
  <Badge tone={strength === 'possible' ? 'plain' : 'good'}>{strength}</Badge>
)
