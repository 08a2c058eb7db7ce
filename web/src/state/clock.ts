import { signal } from '@preact/signals'

const everyMs = 30_000

/** Grows as time goes by, so that what says "a minute ago" does not stand still. */
export const tick = signal(0)

setInterval(() => {
  if (document.visibilityState === 'visible') tick.value += 1
}, everyMs)

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') tick.value += 1
})
