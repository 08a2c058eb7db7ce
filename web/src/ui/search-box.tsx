import type { Ref } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

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
