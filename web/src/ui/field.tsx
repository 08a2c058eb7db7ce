import { useId } from 'preact/hooks'

type FieldProps = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly maxLength: number
  readonly help?: string
  readonly placeholder?: string
  readonly isRequired?: boolean
  readonly suggestions?: readonly string[]
}

export function Field({
  label,
  value,
  onInput,
  maxLength,
  help,
  placeholder,
  isRequired,
  suggestions = [],
}: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        value={value}
        maxLength={maxLength}
        placeholder={placeholder}
        required={isRequired}
        autocomplete="off"
        list={suggestions.length === 0 ? undefined : `${id}-list`}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {suggestions.length === 0 ? null : (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {help === undefined ? null : (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  )
}

export function TextArea({ label, value, onInput, maxLength, help, placeholder, isRequired }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="area"
        value={value}
        maxLength={maxLength}
        placeholder={placeholder}
        required={isRequired}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {help === undefined ? null : (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  )
}

export function Choice<Value extends string>({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [Value, string])[]
  readonly onChoose: (value: Value) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
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
    </div>
  )
}
