import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isLate, isLive, type Refusal, reconnects, unreachable } from '../api/client.ts'
import { Link } from '../navigation/router.tsx'
import { dismiss, hold, letFade, type Toast, toasts } from '../state/changes.ts'
import type { Resource } from '../state/resource.ts'
import { Button, Icon, type IconName } from './elements.tsx'

/** What to see where nothing is yet: what would be here, and the next step towards it. */
export function EmptyState({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <span class="empty-sign">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      <div class="empty-text">{children}</div>
    </div>
  )
}

/** What went wrong, in the server's words, and a way to try again. */
export function FailedState({ error, retry }: { readonly error: Refusal; readonly retry: () => void }) {
  return (
    <div class="empty failed" role="alert">
      <span class="empty-sign">
        <Icon name="warn" size={22} />
      </span>
      <h2>{error.message}</h2>
      <div class="empty-text">
        <p>
          <Worded text={error.hint} />
        </p>
      </div>
      <Button icon="sync" onClick={retry}>
        Try again
      </Button>
    </div>
  )
}

export type Way = { readonly href: string; readonly name: string }

/** What an old address or a removed thing leaves: trying again would not bring it, so there is a way on. */
export function MissingState({ error, elsewhere }: { readonly error: Refusal; readonly elsewhere: Way }) {
  return (
    <div class="empty" role="alert">
      <span class="empty-sign">
        <Icon name="question" size={22} />
      </span>
      <h2 class="break">{error.message}</h2>
      <div class="empty-text">
        <p>It may have been removed, or the address is not right.</p>
      </div>
      <Link class="button" href={elsewhere.href}>
        {elsewhere.name}
      </Link>
    </div>
  )
}

/** A refusal beside the thing that was refused. */
export function Refused({ error }: { readonly error: Refusal | null }) {
  if (error === null) return null
  return (
    <p class="refused" role="alert">
      <Icon name="warn" />
      <span>
        <Worded text={`${error.message} ${error.hint}`} />
      </span>
    </p>
  )
}

/** A sentence of the program's own in which `backticks` stand around what is typed into a terminal. */
export function Worded({ text }: { readonly text: string }) {
  return (
    <>{text.split(/`([^`]+)`/).map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece))}</>
  )
}

/** Grey lines of the size of what is coming, so that nothing moves when it comes. */
export function SkeletonRows({ rows, label }: { readonly rows: number; readonly label: string }) {
  return (
    <div class="skeleton-rows" role="status">
      <span class="unseen">{label}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div class="skeleton-row" key={index} aria-hidden="true">
          <span class="skeleton line-long" />
          <span class="skeleton line-short" />
        </div>
      ))}
    </div>
  )
}

export function SkeletonBlock({ label, kind }: { readonly label: string; readonly kind: 'detail' | 'plot' | 'cards' }) {
  return (
    <div class={`skeleton-block like-${kind}`} role="status">
      <span class="unseen">{label}</span>
      <span class="skeleton line-title" aria-hidden="true" />
      <span class="skeleton line-long" aria-hidden="true" />
      <span class="skeleton line-long" aria-hidden="true" />
      <span class="skeleton box" aria-hidden="true" />
      <span class="skeleton box" aria-hidden="true" />
    </div>
  )
}

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
    useEffect(fetch, [reconnects.value])
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

/** A line at the top while an answer is late, such as while another program has locked the store. */
export const LateSign = () => (
  <div class="late" role="status">
    {isLate.value ? (
      <>
        <span class="late-bar" aria-hidden="true" />
        <span class="late-words">Waiting for the memory…</span>
      </>
    ) : null}
  </div>
)

/** What has just been done, and the way back. */
export function ToastRegion() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {isLive.value === false ? <LostCard /> : null}
      {toasts.value.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

/** Stays until the server answers again. */
const LostCard = () => (
  <div class="toast failed">
    <span class="row">
      <Icon name="sync" /> The server does not answer. Trying again…
    </span>
  </div>
)

function ToastCard({ toast }: { readonly toast: Toast }) {
  const { id, tone, text, action } = toast
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it is not acted upon; it only stays while it is looked at.
    <div
      class={`toast ${tone}`}
      onMouseEnter={() => hold(id)}
      onMouseLeave={() => letFade(id)}
      onFocusIn={() => hold(id)}
      onFocusOut={() => letFade(id)}
    >
      <span class="break">
        <Worded text={text} />
      </span>
      {action === null ? null : (
        <Button
          tone="quiet"
          onClick={() => {
            dismiss(id)
            void action.act()
          }}
        >
          {action.label}
        </Button>
      )}
      <Button tone="quiet" icon="close" aria-label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  )
}
