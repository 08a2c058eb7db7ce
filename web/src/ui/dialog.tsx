import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

type DialogProps = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
}

/** Where the focus was before the first of the dialogs that follow each other. */
let opener: Element | null = null

/** The browser's own modal: it holds the focus, Esc closes it, and focus returns to where it was. */
export function Dialog({ title, onClose, children, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const before = document.activeElement
    if (before?.closest('dialog') == null) opener = before === document.body ? null : before
    const dialog = element.current
    dialog?.showModal()
    firstStop(dialog)?.focus()
    return () => {
      // Nothing behind it can have the focus as long as it is open.
      dialog?.close()
      // What opened it may be gone by then: a belief that is no longer recalled, a row that was forgotten.
      const target = opener instanceof HTMLElement && opener.isConnected ? opener : document.getElementById('main')
      target?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        event.stopPropagation()
        onClose()
      }}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <Button tone="quiet" icon="close" aria-label="Close" onClick={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

/** Whoever opens a form wants to write; where something else is safer, that says so. Otherwise it is the way out. */
const firstStop = (dialog: HTMLElement | null): HTMLElement | null =>
  dialog?.querySelector<HTMLElement>('[data-first]') ??
  dialog?.querySelector<HTMLElement>('.dialog-body :is(input:not([type=checkbox]), textarea)') ??
  null
