import { dayOf } from '../format/time.ts'
import { Badge } from './badge.tsx'

type AgeBadgeProps = { readonly earlier: boolean; readonly correctedAt: string | null }

/** Marks a quote that is outdated. */
export function AgeBadge({ earlier, correctedAt }: AgeBadgeProps) {
  if (correctedAt !== null) return <Badge>corrected on {dayOf(correctedAt)}</Badge>
  if (!earlier) return null
  return (
    <span title="A newer message about the same thing comes before it.">
      <Badge>earlier</Badge>
    </span>
  )
}
