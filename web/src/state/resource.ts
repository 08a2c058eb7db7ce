import { useEffect, useRef, useState } from 'preact/hooks'
import { type Refusal, reconnects, toRefusal } from '../api/client.ts'

/**
 * A value from the server. During a refresh `value` is the previous value. If both `value` and `error` are set, the value may
 * be outdated.
 */
export type Resource<Value> = {
  readonly value: Value | null
  readonly error: Refusal | null
  readonly isLoading: boolean
  readonly reload: () => void
}

type Answer<Value> = { readonly key: string; readonly value: Value | null; readonly error: Refusal | null }

/**
 * Loads a value, and loads it again when `key` or `freshness` changes. With `keep`, the value of the previous key is returned
 * until the new one arrives; without it, the value of a new key is null at first.
 */
export function useResource<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { freshness = 0, keep = false }: { readonly freshness?: number | string; readonly keep?: boolean } = {},
): Resource<Value> {
  const [answer, setAnswer] = useState<Answer<Value> | null>(null)
  const [attempt, setAttempt] = useState(0)
  const [isLoading, setLoading] = useState(true)
  const latest = useRef(load)
  latest.current = load
  const reload = () => setAttempt((before) => before + 1)
  useRetry(answer?.error ?? null, reload)

  useEffect(() => {
    const controller = new AbortController()
    setLoading(true)
    latest
      .current(controller.signal)
      .then(
        (value) => ({ key, value, error: null }),
        (error: unknown) => ({ key, value: null, error: toRefusal(error) }),
      )
      .then((next) => {
        if (controller.signal.aborted) return
        setLoading(false)
        setAnswer((before) => {
          const isSameThing = before !== null && (before.key === key || keep)
          return next.error !== null && isSameThing ? { ...before, error: next.error } : next
        })
      })
    return () => controller.abort()
  }, [key, freshness, attempt])

  const isMine = answer !== null && (answer.key === key || keep)
  return {
    value: isMine ? answer.value : null,
    error: isMine ? answer.error : null,
    isLoading,
    reload,
  }
}

/** Reloads when the connection is restored, if the server did not answer before. */
export function useRetry(error: Refusal | null, reload: () => void): void {
  const seen = useRef(reconnects.value)
  useEffect(() => {
    if (seen.current === reconnects.value) return
    seen.current = reconnects.value
    if (error?.status === 0) reload()
  }, [reconnects.value])
}

const typingPauseMs = 180

/** A text as it was at the last pause in typing. */
export function useDebounced(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), typingPauseMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
