import { useEffect, useRef } from 'preact/hooks'
import { count } from '../../format/numbers.ts'
import { Button } from '../../ui/button.tsx'

type MoreRowsProps = { readonly onMore: () => void; readonly shown: number; readonly total: number }

/** The end of what has been loaded: coming into view, it brings more. */
export function MoreRows({ onMore, shown, total }: MoreRowsProps) {
  const element = useRef<HTMLDivElement>(null)
  const latest = useRef(onMore)
  latest.current = onMore
  // Looked at anew after more rows have come: it may still be in view.
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current()
    })
    if (element.current !== null) observer.observe(element.current)
    return () => observer.disconnect()
  }, [shown])
  return (
    <div class="more-rows" ref={element}>
      <Button tone="quiet" onClick={onMore}>
        {count(shown)} of {count(total)}. Show more
      </Button>
    </div>
  )
}
