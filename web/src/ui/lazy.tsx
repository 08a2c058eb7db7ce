import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { comebacks } from '../api/live.ts'
import { unreachable } from '../api/refusal.ts'
import { FailedState } from './notice.tsx'
import { SkeletonBlock } from './skeleton.tsx'

/** A page whose code is fetched when it is first opened, and kept then. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null
  return function Lazy(props: Props) {
    const [state, setState] = useState<'waiting' | 'ready' | 'failed'>(loaded === null ? 'waiting' : 'ready')
    const fetch = () => {
      if (loaded !== null) return
      load().then(
        (component) => {
          loaded = component
          setState('ready')
        },
        () => setState('failed'),
      )
    }
    // Again by itself when a server that did not answer is back.
    useEffect(fetch, [comebacks.value])
    if (loaded !== null) {
      const Component = loaded
      return <Component {...props} />
    }
    return state === 'failed' ? (
      <FailedState error={unreachable()} retry={fetch} />
    ) : (
      <SkeletonBlock kind="cards" label="Loading the page" />
    )
  }
}
