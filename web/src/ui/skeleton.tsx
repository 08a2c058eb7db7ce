/** Grey lines of the size of what is coming, so that nothing moves when it comes. */
export function SkeletonRows({ rows, label }: { readonly rows: number; readonly label: string }) {
  return (
    <div class="skeleton-rows" role="status">
      <span class="unseen">{label}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div class="skeleton-row" key={index} aria-hidden="true">
          <span class="skeleton line-long" />
          <span class="skeleton line-short" />
        </div>
      ))}
    </div>
  )
}

export function SkeletonBlock({ label, kind }: { readonly label: string; readonly kind: 'detail' | 'plot' | 'cards' }) {
  return (
    <div class={`skeleton-block like-${kind}`} role="status">
      <span class="unseen">{label}</span>
      <span class="skeleton line-title" aria-hidden="true" />
      <span class="skeleton line-long" aria-hidden="true" />
      <span class="skeleton line-long" aria-hidden="true" />
      <span class="skeleton box" aria-hidden="true" />
      <span class="skeleton box" aria-hidden="true" />
    </div>
  )
}
