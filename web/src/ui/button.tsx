import type { ComponentChildren, JSX } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon' | 'size'> & {
  readonly tone?: 'plain' | 'main' | 'danger' | 'quiet'
  readonly icon?: IconName
  readonly isBusy?: boolean
  readonly children?: ComponentChildren
}

/** While busy it keeps its size and its place in the order of focus, but does nothing. */
export function Button({
  tone = 'plain',
  icon,
  isBusy = false,
  children,
  onClick,
  class: extra,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={`button ${tone} ${children === undefined ? 'only-icon' : ''} ${extra ?? ''}`}
      aria-busy={isBusy}
      aria-disabled={isBusy || rest.disabled === true ? 'true' : undefined}
      onClick={isBusy ? (event: Event) => event.preventDefault() : onClick}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  )
}
