import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isLate, isLive, type Refusal, reconnects, unreachable } from '../api/client.ts'
import { Link } from '../navigation/router.tsx'
import { dismissToast, holdToast, startFading, type Toast, toasts } from '../state/changes.ts'
import type { Resource } from '../state/resource.ts'
import { Button, Icon, type IconName } from './elements.tsx'

type EmptyStateProps = {
  readonly icon: IconName
  readonly title: string
  readonly text?: string
  readonly children?: ComponentChildren
}

/** Shown instead of an empty list. Explains its purpose and the next step. */
export const EmptyState = ({ icon, title, text, children }: EmptyStateProps) => (
  <div class="empty">
    <span class="badge accent">
      <Icon name={icon} size={22} />
    </span>
    <h2>{title}</h2>
    {text === undefined ? null : <p>{text}</p>}
    {children}
  </div>
)

/** Shows the server's error message with a button to retry. */
export const FailedState = ({ error, retry }: { readonly error: Refusal; readonly retry: () => void }) => (
  <div class="empty" role="alert">
    <span class="badge bad">
      <Icon name="warn" size={22} />
    </span>
    <h2>{error.message}</h2>
    <p>
      <WithCode text={error.hint} />
    </p>
    <Button icon="sync" onClick={retry} label="Try again" />
  </div>
)

type LinkTarget = { readonly href: string; readonly name: string }
/** Shown for a dead link or a removed item. Retrying cannot help, so it links elsewhere. */
export const MissingState = ({ title, elsewhere }: { readonly title: string; readonly elsewhere: LinkTarget }) => (
  <div role="alert">
    <EmptyState icon="question" title={title}>
      <p>It may have been removed, or the address is wrong.</p>
      <Link class="button" href={elsewhere.href} text={elsewhere.name} />
    </EmptyState>
  </div>
)

export const NoSuchPage = ({ href, text }: { readonly href: string; readonly text: string }) => (
  <div class="panel">
    <h1 class="unseen">No such page</h1>
    <EmptyState icon="question" title="There is no such page">
      <Link href={href} text={text} />
    </EmptyState>
  </div>
)

/** A refusal next to the form or button that caused it. */
export function Refused({ error }: { readonly error: Refusal | null }) {
  if (error === null) return null
  return (
    <p class="note bad" role="alert">
      <WithCode text={`${error.message} ${error.hint}`} />
    </p>
  )
}

/** A sentence of the program, in which backticks mark terminal input. */
export const WithCode = ({ text }: { readonly text: string }) => (
  <>{text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
)

/** Placeholders of the same height as the rows being loaded, so that the layout does not shift. */
export const SkeletonRows = ({ rows, label }: { readonly rows: number; readonly label: string }) => (
  <div role="status">
    <span class="unseen">{label}</span>
    {Array.from({ length: rows }, (_, index) => (
      <div class="skeleton-row" key={index} aria-hidden="true">
        <span class="skeleton" />
        <span class="skeleton" />
      </div>
    ))}
  </div>
)

type LoadedProps<Value> = {
  readonly resource: Resource<Value>
  readonly waiting: ComponentChildren
  /** The link for a value that does not exist. */
  readonly elsewhere?: LinkTarget
  readonly children: (value: Value) => ComponentChildren
}

/** Shows exactly one of the value, the placeholder and the error. */
export function Loaded<Value>({ resource, waiting, elsewhere, children }: LoadedProps<Value>) {
  const { value, error, reload } = resource
  if (value !== null) return <>{children(value)}</>
  if (error?.status === 404 && elsewhere !== undefined)
    return <MissingState title={error.message} elsewhere={elsewhere} />
  if (error !== null) return <FailedState error={error} retry={reload} />
  return <>{waiting}</>
}

/** A page whose code is fetched when it is first opened. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Loaded: ComponentType<Props> | null = null
  return function Lazy(props: Props) {
    const [state, setState] = useState<'waiting' | 'ready' | 'failed'>(Loaded === null ? 'waiting' : 'ready')
    const fetch = () => {
      if (Loaded !== null) return
      load().then(
        (component) => {
          Loaded = component
          setState('ready')
        },
        () => setState('failed'),
      )
    }
    // Retries after a reconnect.
    useEffect(fetch, [reconnects.value])
    if (Loaded !== null) return <Loaded {...props} />
    if (state === 'failed') return <FailedState error={unreachable()} retry={fetch} />
    return <SkeletonRows rows={7} label="Loading the page" />
  }
}

/** Shown while an answer is late, for example because another program has locked the store. */
export const LateSign = () => (
  <div class="late" role="status">
    {isLate.value ? <p class="toast">Waiting for the memory…</p> : null}
  </div>
)

/** The latest changes with undo buttons. The note about a lost connection stays until the server answers again. */
export const ToastRegion = () => (
  <div class="toasts" role="status" aria-live="polite">
    {isLive.value === false ? (
      <div class="toast failed">
        <Icon name="sync" /> The server does not answer. Trying again…
      </div>
    ) : null}
    {toasts.value.map((toast) => (
      <ToastCard key={toast.id} toast={toast} />
    ))}
  </div>
)

function ToastCard({ toast: { id, tone, text, action } }: { readonly toast: Toast }) {
  const onClick = () => {
    dismissToast(id)
    void action?.onClick()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it has no action; hovering only keeps it open.
    <div
      class={`toast ${tone}`}
      onMouseEnter={() => holdToast(id)}
      onMouseLeave={() => startFading(id)}
      onFocusIn={() => holdToast(id)}
      onFocusOut={() => startFading(id)}
    >
      <span class="break grow">
        <WithCode text={text} />
      </span>
      {action === null ? null : <Button tone="quiet" onClick={onClick} label={action.label} />}
      <Button tone="quiet" icon="close" aria-label="Dismiss" onClick={() => dismissToast(id)} />
    </div>
  )
}
