import { wordParts } from '../format/word-parts.ts'

/** Two versions of a text in one, with the words marked that went and those that came. */
export function WordDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const parts = wordParts(before, after)
  return (
    <p class="word-diff" dir="auto">
      {parts.map(({ value, added, removed }, index) =>
        removed ? (
          <del key={index}>
            <span class="unseen">removed: </span>
            {value}
          </del>
        ) : added ? (
          <ins key={index}>
            <span class="unseen">added: </span>
            {value}
          </ins>
        ) : (
          value
        ),
      )}
    </p>
  )
}
