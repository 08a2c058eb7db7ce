/** How far down each step of the history was read, for whoever comes back to it. */
const depths = new Map<string, number>()

/** What is still loading when one comes back gets this long to become as tall as it was. */
const patienceMs = 3_000

let lastKey = 0
let isSettling = false

// The browser would restore before the content is there, and then give up.
window.history.scrollRestoration = 'manual'

/** The state of a new step of the history. */
export function startEntry(): { readonly key: string } {
  lastKey += 1
  return { key: `${performance.timeOrigin}-${lastKey}` }
}

const keyNow = (): string => {
  const state: unknown = window.history.state
  return typeof state === 'object' && state !== null && 'key' in state ? String(state.key) : ''
}

window.addEventListener('scroll', () => {
  if (!isSettling) depths.set(keyNow(), window.scrollY)
})

for (const sign of ['wheel', 'touchmove', 'keydown', 'mousedown'] as const)
  window.addEventListener(
    sign,
    () => {
      isSettling = false
    },
    { passive: true },
  )

/** Goes back to where the page was left, as soon as it is tall enough, unless somebody scrolls first. */
export function standWhereLeft(): void {
  const wanted = depths.get(keyNow()) ?? 0
  const until = performance.now() + patienceMs
  isSettling = true
  const step = () => {
    if (!isSettling) return
    window.scrollTo(0, wanted)
    if (Math.abs(window.scrollY - wanted) < 2 || performance.now() > until) isSettling = false
    else requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}
