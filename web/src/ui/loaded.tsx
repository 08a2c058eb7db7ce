import type { ComponentChildren } from 'preact'
import type { Resource } from '../state/resource.ts'
import { FailedState } from './notice.tsx'

/** Shows what is there, what is coming, or what went wrong; exactly one of the three. */
export function Loaded<Value>({
  resource,
  waiting,
  children,
}: {
  readonly resource: Resource<Value>
  readonly waiting: ComponentChildren
  readonly children: (value: Value) => ComponentChildren
}) {
  const { value, error, reload } = resource
  if (value !== null) return <>{children(value)}</>
  if (error !== null) return <FailedState error={error} retry={reload} />
  return <>{waiting}</>
}
