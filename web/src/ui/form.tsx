import type { ComponentChildren, Ref } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Refusal, toRefusal } from '../api/client.ts'
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

/** The element that had the focus before the first of several consecutive dialogs. */
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
      // Closed first, because elements behind a modal dialog cannot get the focus.
      dialog?.close()
      // The action may have removed the opener, for example the row of a forgotten belief.
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

/** The element with `data-first`, the safe choice; otherwise the first field. */
const firstStop = (dialog: HTMLElement | null): HTMLElement | null =>
  dialog?.querySelector<HTMLElement>('[data-first]') ??
  dialog?.querySelector<HTMLElement>('.dialog-body :is(input:not([type=checkbox]), textarea)') ??
  null

type FormDialogProps = DialogProps & {
  /** The label of the submit button. */
  readonly submit: string
  /** The form cannot be submitted yet. */
  readonly isIdle?: boolean
  /** Set if the action cannot be undone, so that Enter does not trigger it. */
  readonly isDangerous?: boolean
  /** Must close the dialog on success. A refusal that it returns or throws is shown. */
  readonly onSubmit: () => Promise<Refusal | null>
}

/** A form that stays open and keeps its input until its action succeeds. */
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
    setError(await onSubmit().catch(toRefusal))
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

/** A text field of several lines. Shows an error for a text that is too long, instead of cutting it. */
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
  /** Set if a visible label outside refers to the field. */
  readonly id?: string
}

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

/** A select whose value is a query parameter. The first option is the default, without the parameter. */
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

/** A select with a visible label. */
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
  /** If it returns false, the field keeps its text. */
  readonly onAdd: (word: string) => boolean | Promise<boolean>
}

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
  /** The word for one item, such as `alias`. */
  readonly noun: string
  readonly placeholder: string
  readonly isReadOnly: boolean
  readonly suggestions?: readonly string[]
  readonly add: (item: string) => Promise<Refusal | null>
  readonly remove: (item: string) => Promise<Refusal | null>
}

/** A list of short texts. Each addition or removal is saved at once. */
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
    // Removing the chip removes the focused button too, so the focus moves to the field.
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
  /** Called for Enter and the down arrow. */
  readonly onEnter?: () => void
  readonly input?: Ref<HTMLInputElement>
}

/** Searches when the person pauses typing. The result of an earlier search never replaces text that is being typed. */
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
            // The first Esc clears the field; a dialog around it stays open.
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
