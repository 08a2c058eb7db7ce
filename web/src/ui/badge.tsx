import type { ComponentChildren } from 'preact'

export type Tone = 'plain' | 'good' | 'bad' | 'odd' | 'accent'

export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}
