import type { ComponentChildren, Ref } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { asRefusal, type Refusal } from '../api/client.ts'
import { count } from '../format/numbers.ts'
import { query, setQuery } from '../navigation/router.tsx'
import { useDebounced } from '../state/resource.ts'
import { Button, Icon } from './elements.tsx'
import { Refused } from './notice.tsx'

type DialogProps = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
}

/** The focused element before the first of several dialogs in a row. */
let opener: Element | null = null

/** The browser's own modal dialog: it traps the focus, Esc closes it, and the focus returns to the opener. */
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
      // Elements behind an open modal dialog cannot be focused.
      dialog?.close()
      // The opener may be gone by then: a belief that is no longer recalled, a row that was forgotten.
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
      <header class="dialog-head row apart">
        <h2 id={titleId}>{title}</h2>
        <Button tone="quiet" icon="close" aria-label="Close" onClick={onClose} />
      </header>
      <div class="dialog-body stack">{children}</div>
    </dialog>
  )
}

/** The marked element (the safe choice), otherwise the first field. */
const firstStop = (dialog: HTMLElement | null): HTMLElement | null =>
  dialog?.querySelector<HTMLElement>('[data-first]') ??
  dialog?.querySelector<HTMLElement>('.dialog-body :is(input:not([type=checkbox]), textarea)') ??
  null

type FormDialogProps = DialogProps & {
  /** The label of the submit button. */
  readonly submit: string
  /** The form cannot be submitted yet. */
  readonly isIdle?: boolean
  /** The action cannot be undone, so Enter must not trigger it. */
  readonly isDangerous?: boolean
  /** Closes the dialog itself. A refusal that it returns or throws is shown. */
  readonly onSubmit: () => Promise<Refusal | null>
}

/** A form that stays open, with everything that was typed, until its action has succeeded. */
export function FormDialog({
  submit,
  isIdle = false,
  isDangerous = false,
  onSubmit,
  children,
  ...rest
}: FormDialogProps) {
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(await onSubmit().catch(asRefusal))
    setBusy(false)
  }
  return (
    <Dialog {...rest}>
      <form
        class="stack"
        onSubmit={isDangerous ? (event) => event.preventDefault() : save}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
        }}
      >
        {children}
        <Refused error={error} />
        <div class="row actions">
          <Button data-first={isDangerous && !isIdle ? true : undefined} onClick={rest.onClose} label="Cancel" />
          <Button
            {...(isDangerous ? { tone: 'danger', icon: 'trash', onClick: save } : { type: 'submit' })}
            class="main"
            isBusy={isBusy}
            disabled={isIdle}
            label={submit}
          />
        </div>
      </form>
    </Dialog>
  )
}

type FieldProps = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly maxLength: number
  readonly help?: string
  readonly placeholder?: string
  readonly isRequired?: boolean
}

/** A text field of one line. */
export function Field({ suggestions = [], ...field }: FieldProps & { readonly suggestions?: readonly string[] }) {
  const id = useId()
  return (
    <Labelled id={id} label={field.label} help={field.help}>
      <input
        {...inputProps(id, field)}
        class="input"
        autocomplete="off"
        list={suggestions.length === 0 ? undefined : `${id}-list`}
      />
      <Suggestions id={`${id}-list`} items={suggestions} />
    </Labelled>
  )
}

export const Suggestions = ({ id, items }: { readonly id: string; readonly items: readonly string[] }) =>
  items.length === 0 ? null : (
    <datalist id={id}>
      {items.map((item) => (
        <option key={item} value={item} />
      ))}
    </datalist>
  )

/** A text field of several lines. A pasted text that is too long is never cut: an error is shown. */
export function TextArea(field: FieldProps) {
  const id = useId()
  const { length } = field.value
  return (
    <Labelled id={id} label={field.label} help={field.help}>
      <textarea {...inputProps(id, field)} class="area" maxLength={undefined} />
      {length <= field.maxLength ? null : (
        <p class="note bad" role="alert">
          {count(length)} characters; at most {count(field.maxLength)} fit. Nothing was cut.
        </p>
      )}
    </Labelled>
  )
}

const inputProps = (id: string, { value, onInput, maxLength, help, placeholder, isRequired }: FieldProps) => ({
  id,
  value,
  maxLength,
  placeholder,
  required: isRequired,
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

const Labelled = ({ id, label, help, children }: LabelledProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    {children}
    {help === undefined ? null : (
      <p class="soft small" id={`${id}-help`}>
        {help}
      </p>
    )}
  </div>
)

type SelectProps<Value extends string> = {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [Value, string])[]
  readonly onChoose: (value: Value) => void
  /** With an id, a visible label elsewhere names the field. */
  readonly id?: string
}

/** One of a few values. */
export const Select = <Value extends string>({ label, value, options, onChoose, id }: SelectProps<Value>) => (
  <select
    id={id}
    class="select"
    aria-label={id === undefined ? label : undefined}
    value={value}
    onChange={(event) => {
      const chosen = options.find(([option]) => option === event.currentTarget.value)
      if (chosen !== undefined) onChoose(chosen[0])
    }}
  >
    {options.map(([option, words]) => (
      <option key={option} value={option}>
        {words}
      </option>
    ))}
  </select>
)

type QuerySelectProps = Pick<SelectProps<string>, 'label' | 'options'> & { readonly name: string }

/** One of a few values, as a parameter of the address. The first is the default, which needs none. */
export function QuerySelect({ label, name, options }: QuerySelectProps) {
  const values = options.map(([value]) => value)
  const given = query.value.get(name) ?? ''
  return (
    <Select
      label={label}
      value={values.includes(given) ? given : (values[0] ?? '')}
      options={options}
      onChoose={(chosen) => setQuery({ [name]: chosen === values[0] ? null : chosen })}
    />
  )
}

/** One of a few values, with a visible label. */
export function Choice<Value extends string>(props: SelectProps<Value>) {
  const id = useId()
  return (
    <Labelled id={id} label={props.label}>
      <Select {...props} id={id} />
    </Labelled>
  )
}

type CheckProps = {
  readonly isChecked: boolean
  readonly onCheck: (isChecked: boolean) => void
  readonly label: string
}

export const Check = ({ isChecked, onCheck, label }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={isChecked} onChange={(event) => onCheck(event.currentTarget.checked)} />
    {label}
  </label>
)

type ChipFormProps = {
  readonly label: string
  readonly placeholder: string
  readonly suggestions?: readonly string[]
  /** False keeps the typed text. */
  readonly onAdd: (word: string) => boolean | Promise<boolean>
}

/** A small field that adds a chip. */
export function ChipForm({ label, placeholder, suggestions = [], onAdd }: ChipFormProps) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const listId = useId()
  const submit = async (event: Event) => {
    event.preventDefault()
    const word = text.trim()
    if (word === '' || isBusy) return
    setBusy(true)
    if (await onAdd(word)) setText('')
    setBusy(false)
    input.current?.focus()
  }
  return (
    <form class="row chip-form" onSubmit={submit}>
      <input
        ref={input}
        class="input"
        aria-label={label}
        placeholder={placeholder}
        maxLength={200}
        dir="auto"
        autocomplete="off"
        list={suggestions.length === 0 ? undefined : listId}
        value={text}
        data-chip={label}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          setText('')
          input.current?.blur()
        }}
      />
      <Button type="submit" icon="plus" isBusy={isBusy} aria-label={label} class="small" />
      <Suggestions id={listId} items={suggestions} />
    </form>
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

/** A few words that are added and removed one by one, each at once. */
export function ChipEditor({ items, noun, isReadOnly, add, remove, ...field }: ChipEditorProps) {
  const [error, setError] = useState<Refusal | null>(null)
  const element = useRef<HTMLDivElement>(null)
  const run = async (change: Promise<Refusal | null>): Promise<boolean> => {
    const refusal = await change
    setError(refusal)
    return refusal === null
  }
  const drop = async (item: string, event: MouseEvent) => {
    const isByKey = event.detail === 0
    // The button is removed with its chip, and would take the focus with it.
    if ((await run(remove(item))) && isByKey) element.current?.querySelector<HTMLElement>('.input')?.focus()
  }
  return (
    <div class="stack tight" ref={element}>
      <ul class="row">
        {items.map((item) => (
          <li key={item} class="chip">
            <span dir="auto">{item}</span>
            {isReadOnly ? null : (
              <Button
                tone="quiet"
                icon="close"
                class="small"
                aria-label={`Remove ${noun} ${item}`}
                onClick={(event) => drop(item, event)}
              />
            )}
          </li>
        ))}
        {isReadOnly && items.length === 0 ? <li class="soft">none</li> : null}
        {isReadOnly ? null : (
          <li>
            <ChipForm label={`Add ${noun}`} {...field} onAdd={(word) => run(add(word))} />
          </li>
        )}
      </ul>
      <Refused error={error} />
    </div>
  )
}

type SearchBoxProps = {
  readonly label: string
  readonly placeholder?: string
  readonly maxLength: number
  /** The words of the current search. */
  readonly text: string
  readonly onChange: (text: string) => void
  /** For Enter and the arrow down. */
  readonly onEnter?: () => void
  readonly input?: Ref<HTMLInputElement>
}

/** Searches when the person pauses. Text that is being typed is never replaced by an earlier search. */
export function SearchBox({ label, placeholder, maxLength, text, onChange, onEnter, input }: SearchBoxProps) {
  const [typed, setTyped] = useState(text)
  const settled = useDebounced(typed)
  const searched = useRef(text)
  useEffect(() => {
    if (text !== searched.current) setTyped(text)
    searched.current = text
  }, [text])
  useEffect(() => {
    if (settled === searched.current || settled !== typed) return
    searched.current = settled
    onChange(settled)
  }, [settled])
  return (
    <div class="search-box">
      <Icon name="recall" />
      <input
        ref={input ?? null}
        class="input"
        type="search"
        dir="auto"
        aria-label={label}
        placeholder={placeholder ?? label}
        autocomplete="off"
        spellcheck={false}
        maxLength={maxLength}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && typed !== '') {
            // The first Esc clears the words; a dialog around the field stays open.
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
    </div>
  )
}
