import { ago, moment } from '../format/time.ts'
import { tick } from '../state/clock.ts'

/** How long ago, as long as the page is open; the exact moment on hover and for programs. */
export function Time({ at }: { readonly at: string }) {
  tick.value
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  )
}
