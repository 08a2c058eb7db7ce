import type { ComponentChildren } from 'preact'
import type { Refusal } from '../api/refusal.ts'
import { Link } from '../navigation/link.tsx'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

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
