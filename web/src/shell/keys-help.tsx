import { signal } from '@preact/signals'
import { knownKeys } from '../navigation/keys.ts'
import { Dialog } from '../ui/dialog.tsx'

export const isKeysHelpOpen = signal(false)

const shown: Readonly<Record<string, string>> = { Escape: 'Esc', ArrowDown: '↓', ArrowUp: '↑', Enter: '↵' }

/** Which keys do something on this page. */
export function KeysHelp() {
  if (!isKeysHelpOpen.value) return null
  const close = () => {
    isKeysHelpOpen.value = false
  }
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <dl class="keys">
        {[...knownKeys(), ['Ctrl K', 'Go to anything by name'] as const].map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{shown[key] ?? key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
