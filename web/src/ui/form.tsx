import type { ComponentChildren, Ref } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Refusal } from '../api/client.ts'
import { count } from '../format/numbers.ts'
import { Button, Icon } from './elements.tsx'
import { Refused } from './notice.tsx'

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

type FieldProps = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly maxLength: number
  readonly help?: string
  readonly placeholder?: string
  readonly isRequired?: boolean
}

/** One line to write. */
export function Field({ suggestions = [], ...field }: FieldProps & { readonly suggestions?: readonly string[] }) {
  const id = useId()
  return (
    <Labelled id={id} label={field.label} help={field.help}>
      <input
        {...sharedBy(id, field)}
        class="input"
        autocomplete="off"
        list={suggestions.length === 0 ? undefined : `${id}-list`}
      />
      {suggestions.length === 0 ? null : (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Labelled>
  )
}

/** A text that was pasted is never cut: whoever pasted it is told that it is too long. */
function TooLong({ value, most }: { readonly value: string; readonly most: number }) {
  if (value.length <= most) return null
  return (
    <p class="refused" role="alert">
      {count(value.length)} characters; at most {count(most)} fit. Nothing was cut.
    </p>
  )
}

/** Several lines to write. */
export function TextArea(field: FieldProps) {
  const id = useId()
  return (
    <Labelled id={id} label={field.label} help={field.help}>
      <textarea {...sharedBy(id, field)} class="area" maxLength={undefined} />
      <TooLong value={field.value} most={field.maxLength} />
    </Labelled>
  )
}

const sharedBy = (id: string, { value, onInput, maxLength, help, placeholder, isRequired }: FieldProps) => ({
  id,
  value,
  maxLength,
  placeholder,
  required: isRequired,
  // Whoever writes from right to left sees it so.
  dir: 'auto' as const,
  'aria-describedby': help === undefined ? undefined : `${id}-help`,
  onInput: (event: { readonly currentTarget: { readonly value: string } }) => onInput(event.currentTarget.value),
})

type LabelledProps = {
  readonly id: string
  readonly label: string
  readonly help?: string | undefined
  readonly children: ComponentChildren
}

function Labelled({ id, label, help, children }: LabelledProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {help === undefined ? null : (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  )
}

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [Value, string])[]
  readonly onChoose: (value: Value) => void
}

/** One of a few. */
export function Choice<Value extends string>({ label, value, options, onChoose }: ChoiceProps<Value>) {
  const id = useId()
  return (
    <Labelled id={id} label={label}>
      <select
        id={id}
        class="select"
        value={value}
        onChange={(event) => {
          const chosen = options.find(([one]) => one === event.currentTarget.value)
          if (chosen !== undefined) onChoose(chosen[0])
        }}
      >
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

type FormDialogProps = {
  readonly title: string
  /** What the button says that does it. */
  readonly submit: string
  /** Nothing to do yet. */
  readonly isIdle?: boolean
  readonly onClose: () => void
  /** Does it, and closes the dialog itself; what comes back instead is shown. */
  readonly onSubmit: () => Promise<Refusal | null>
  readonly children: ComponentChildren
}

/** A form that stays open, with everything that was written, until what it asks for is done. */
export function FormDialog({ title, submit, isIdle = false, onClose, onSubmit, children }: FormDialogProps) {
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    const refusal = await onSubmit()
    setBusy(false)
    setError(refusal)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={save}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
        }}
      >
        {children}
        <Refused error={error} />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="main" isBusy={isBusy} disabled={isIdle}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

type ChipEditorProps = {
  readonly items: readonly string[]
  /** What one of them is called: `alias`. */
  readonly noun: string
  readonly placeholder: string
  readonly isReadOnly: boolean
  readonly suggestions?: readonly string[]
  readonly add: (item: string) => Promise<Refusal | null>
  readonly remove: (item: string) => Promise<Refusal | null>
}

/** A few words that can be added and taken away one by one, each at once. */
export function ChipEditor({ items, noun, placeholder, isReadOnly, suggestions = [], add, remove }: ChipEditorProps) {
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const listId = useId()
  const act = async (what: () => Promise<Refusal | null>): Promise<boolean> => {
    setBusy(true)
    const refusal = await what()
    setBusy(false)
    setError(refusal)
    return refusal === null
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    const word = typed.trim()
    if (word === '' || isBusy) return
    if (await act(() => add(word))) setTyped('')
    input.current?.focus()
  }
  const drop = async (item: string, event: MouseEvent) => {
    const isByKey = event.detail === 0
    // The button goes with its chip, and the focus would go with the button.
    if ((await act(() => remove(item))) && isByKey) input.current?.focus()
  }
  return (
    <div class="stack tight">
      <ul class="chips">
        {items.map((item) => (
          <li key={item} class={isReadOnly ? 'chip plain' : 'chip'}>
            <span dir="auto">{item}</span>
            {isReadOnly ? null : (
              <button type="button" aria-label={`Remove ${noun} ${item}`} onClick={(event) => void drop(item, event)}>
                <Icon name="close" size={12} />
              </button>
            )}
          </li>
        ))}
        {isReadOnly && items.length === 0 ? <li class="soft">none</li> : null}
        {isReadOnly ? null : (
          <li>
            <form class="chip-form" onSubmit={submit}>
              <input
                ref={input}
                class="input"
                aria-label={`Add ${noun}`}
                placeholder={placeholder}
                maxLength={200}
                dir="auto"
                autocomplete="off"
                list={suggestions.length === 0 ? undefined : listId}
                value={typed}
                data-chip={noun}
                onInput={(event) => setTyped(event.currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key !== 'Escape') return
                  event.stopPropagation()
                  setTyped('')
                  setError(null)
                  input.current?.blur()
                }}
              />
              <Button type="submit" icon="plus" isBusy={isBusy} aria-label={`Add ${noun}`} class="small" />
            </form>
            {suggestions.length === 0 ? null : (
              <datalist id={listId}>
                {suggestions.map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            )}
          </li>
        )}
      </ul>
      <Refused error={error} />
    </div>
  )
}

/** So long nobody has typed when it is asked. */
const typingPauseMs = 160

type SearchBoxProps = {
  readonly label: string
  readonly placeholder?: string
  readonly maxLength: number
  /** What has been asked for. */
  readonly text: string
  readonly onChange: (text: string) => void
  /** What Enter and the arrow down do. */
  readonly onEnter?: () => void
  /** The key that leads here, where there is one. */
  readonly shortcut?: string
  readonly input?: Ref<HTMLInputElement>
}

/** Asks when the person pauses; what is being typed is never replaced by what has been asked. */
export function SearchBox({ label, placeholder, maxLength, text, onChange, onEnter, shortcut, input }: SearchBoxProps) {
  const [typed, setTyped] = useState(text)
  const asked = useRef(text)
  useEffect(() => {
    if (text !== asked.current) setTyped(text)
    asked.current = text
  }, [text])
  useEffect(() => {
    if (typed === asked.current) return
    const timer = setTimeout(() => {
      asked.current = typed
      onChange(typed)
    }, typingPauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <div class="search-box">
      <Icon name="recall" />
      <input
        ref={input ?? null}
        class="input"
        type="search"
        dir="auto"
        aria-label={label}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        maxLength={maxLength}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && typed !== '') {
            // A dialog around it stays open: the first Esc is for the words.
            event.preventDefault()
            event.stopPropagation()
            setTyped('')
          } else if (event.key === 'Escape') event.currentTarget.blur()
          if (onEnter !== undefined && (event.key === 'ArrowDown' || event.key === 'Enter')) {
            event.preventDefault()
            onEnter()
          }
        }}
      />
      {shortcut === undefined ? null : <kbd>{shortcut}</kbd>}
    </div>
  )
}
