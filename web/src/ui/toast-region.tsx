import { dismiss, hold, letFade, type Toast, toasts } from '../state/toasts.ts'
import { Button } from './button.tsx'

/** What has just been done, and the way back. */
export function ToastRegion() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function ToastCard({ toast }: { readonly toast: Toast }) {
  const { id, tone, text, action } = toast
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it is not acted upon; it only stays while it is looked at.
    <div
      class={`toast ${tone}`}
      onMouseEnter={() => hold(id)}
      onMouseLeave={() => letFade(id)}
      onFocusIn={() => hold(id)}
      onFocusOut={() => letFade(id)}
    >
      <span class="break">{text}</span>
      {action === null ? null : (
        <Button
          tone="quiet"
          onClick={() => {
            dismiss(id)
            void action.act()
          }}
        >
          {action.label}
        </Button>
      )}
      <Button tone="quiet" icon="close" aria-label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  )
}
