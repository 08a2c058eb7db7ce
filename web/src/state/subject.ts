import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** The one thing a page is about, for the title of the window; null on pages about many. */
export const subject = signal<string | null>(null)

/** Names what is looked at while the component is there. */
export function useSubject(name: string | null): void {
  useEffect(() => {
    subject.value = name
    return () => {
      subject.value = null
    }
  }, [name])
}
