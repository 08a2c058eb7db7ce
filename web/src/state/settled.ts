import { useEffect, useState } from 'preact/hooks'

const typingPauseMs = 180

/** A text that is being typed, as it was at the last pause. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), typingPauseMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
