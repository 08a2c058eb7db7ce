import { useState } from 'preact/hooks'
import { say } from '../state/toasts.ts'
import { Button } from './button.tsx'

/** Puts a text into the clipboard and says so where the person looks. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), 2_000)
    } catch {
      say('The browser did not allow copying. Select the text and copy it by hand.', { tone: 'failed' })
    }
  }
  return (
    <Button icon={isCopied ? 'check' : 'copy'} onClick={copy} disabled={text === ''}>
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </Button>
  )
}
