import type { ComponentChildren } from 'preact'
import type { Resource } from '../state/resource.ts'
import { FailedState, MissingState, type Way } from './notice.tsx'

/** Shows what is there, what is coming, or what went wrong; exactly one of the three. */
export function Loaded<Value>({
  resource,
  waiting,
  elsewhere,
  children,
}: {
  readonly resource: Resource<Value>
  readonly waiting: ComponentChildren
  /** Where to go when there is no such thing. */
  readonly elsewhere?: Way
  readonly children: (value: Value) => ComponentChildren
}) {
  const { value, error, reload } = resource
  if (value !== null) return <>{children(value)}</>
  if (error?.status === 404 && elsewhere !== undefined) return <MissingState error={error} elsewhere={elsewhere} />
  if (error !== null) return <FailedState error={error} retry={reload} />
  return <>{waiting}</>
}
