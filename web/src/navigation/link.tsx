import type { ComponentChildren } from 'preact'
import { navigate } from './router.ts'

type LinkProps = {
  readonly href: string
  readonly children: ComponentChildren
  readonly class?: string
  readonly title?: string
  readonly 'aria-current'?: 'page' | 'true' | undefined
  readonly 'aria-label'?: string
  /** Leaves no step to go back to, for what is only looked at in passing. */
  readonly replace?: boolean
}

/** A link inside the dashboard. Opening it in another tab works as with any link. */
export function Link({ href, children, replace = false, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(href, { replace })
  }
  return (
    <a {...rest} href={href} onClick={follow}>
      {children}
    </a>
  )
}
