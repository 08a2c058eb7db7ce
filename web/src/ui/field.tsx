import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { count } from '../format/numbers.ts'

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
