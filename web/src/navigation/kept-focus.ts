/** What had the focus last. */
let last: Element | null = null

document.addEventListener('focusin', ({ target }) => {
  if (target instanceof Element) last = target
})

/**
 * When what had the focus is gone, with its page or because somebody else removed it, the next Tab begins at the page
 * instead of at the top of everything.
 */
export function keepFocus(root: HTMLElement): void {
  let frame = 0
  new MutationObserver(() => {
    cancelAnimationFrame(frame)
    // Browsers take the focus off what cannot be seen only when they draw.
    frame = requestAnimationFrame(look)
  }).observe(root, { childList: true, subtree: true })
}

function look(): void {
  if (last === null || document.activeElement !== document.body) return
  if (last.isConnected && last.checkVisibility()) return
  last = null
  document.getElementById('main')?.focus({ preventScroll: true })
}
