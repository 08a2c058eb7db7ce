import { isLate } from '../api/client.ts'
import { isLive } from '../api/live.ts'
import { dismiss, hold, letFade, type Toast, toasts } from '../state/toasts.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { Worded } from './notice.tsx'

/** A line at the top while an answer is late, such as while another program has locked the store. */
export const LateSign = () => (
  <div class="late" role="status">
    {isLate.value ? (
      <>
        <span class="late-bar" aria-hidden="true" />
        <span class="late-words">Waiting for the memory…</span>
      </>
    ) : null}
  </div>
)

/** What has just been done, and the way back. */
export function ToastRegion() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {isLive.value === false ? <LostCard /> : null}
      {toasts.value.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

/** Stays until the server answers again. */
const LostCard = () => (
  <div class="toast failed">
    <span class="row">
      <Icon name="sync" /> The server does not answer. Trying again…
    </span>
  </div>
)

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
      <span class="break">
        <Worded text={text} />
      </span>
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
